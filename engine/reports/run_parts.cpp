#include "engine/reports/run_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/reports/readable.hpp"
#include "engine/reports/text_table.hpp"
#include "search/losses.hpp"

namespace trainfront::engine {
namespace {

// What a part of the step is for. Matrix products and what goes with them are useful; the rest is not.
std::string_view purpose(std::string_view part) {
  constexpr std::array<std::string_view, 4> kUseful = {"gemm", "attention", "memory_bound", "optimizer"};
  if (std::find(kUseful.begin(), kUseful.end(), part) != kUseful.end()) return "useful";
  return part == "bubble" || part == "host" ? part : "communication";
}

void add_to(std::vector<Amount>& amounts, std::string_view name, double value) {
  const auto same =
      std::find_if(amounts.begin(), amounts.end(), [&](const Amount& amount) { return amount.name == name; });
  if (same == amounts.end()) {
    amounts.push_back({std::string(name), value});
  } else {
    same->value += value;
  }
}

// Every second costs all computing nodes; spares, and data that leaves the provider, are paid for beside
// them.
std::vector<Amount> in_dollars(const std::vector<Amount>& seconds, const search::Losses& losses) {
  std::vector<Amount> dollars;
  for (const Amount& part : seconds) dollars.push_back({part.name, part.value * losses.computing_usd_per_s});
  dollars.push_back({"idle_spares", losses.idle_spares_usd});
  dollars.push_back({"egress", losses.egress_usd});
  return dollars;
}

}  // namespace

RunParts run_parts(const search::Space& space, const PlanRow& row) {
  const search::Losses losses = search::losses(space, row.plan.index);
  RunParts run;
  for (const std::string_view name : {"useful", "communication", "bubble", "host"})
    add_to(run.losses_s, name, 0);
  for (const NamedPart& part : named_parts(row.step)) {
    run.parts_s.push_back({std::string(part.name), part.seconds * losses.steps});
    add_to(run.losses_s, purpose(part.name), part.seconds * losses.steps);
  }
  const std::array<Amount, 8> added = {{{"large_batch", losses.batch_s},
                                        {"redundancy", losses.redundancy_s},
                                        {"patches", losses.patches_s},
                                        {"checkpoints", losses.checkpoints_s},
                                        {"lost_work", losses.lost_work_s},
                                        {"restarts", losses.restarts_s},
                                        {"preemption", losses.preemption_s},
                                        {"reserve", losses.reserve_s}}};
  for (auto* list : {&run.parts_s, &run.losses_s}) list->insert(list->end(), added.begin(), added.end());
  run.parts_usd = in_dollars(run.parts_s, losses);
  run.losses_usd = in_dollars(run.losses_s, losses);
  return run;
}

std::string losses_text(const RunParts& parts, const search::Outcome& outcome) {
  TextTable table{{"where the run goes", "time", "", "dollars"}, {}, {false, true, true, true}};
  for (std::size_t i = 0; i < parts.losses_usd.size(); ++i) {
    const bool takes_time = i < parts.losses_s.size();
    const double usd = parts.losses_usd[i].value;
    if (usd == 0 && !(takes_time && parts.losses_s[i].value > 0)) continue;
    std::string name = parts.losses_usd[i].name;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.rows.push_back(
        {name, takes_time ? readable_duration(parts.losses_s[i].value) : "",
         readable_percent(takes_time ? parts.losses_s[i].value / outcome.time_to_train_s : 0),
         readable_money(usd)});
    if (!takes_time) table.rows.back()[2] = "";
  }
  table.rows.push_back(
      {"total", readable_duration(outcome.time_to_train_s), "", readable_money(outcome.cost_usd)});
  return table.str();
}

}  // namespace trainfront::engine
