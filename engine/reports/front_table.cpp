#include "engine/reports/front_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/reports/names.hpp"
#include "engine/reports/readable.hpp"
#include "engine/reports/text_table.hpp"
#include "faults/protection_check.hpp"
#include "inputs/printable.hpp"

namespace trainfront::engine {
namespace {

std::set<std::size_t> chosen_rows(std::span<const PlanRow> rows, std::optional<std::uint64_t> marked,
                                  std::size_t most) {
  std::set<std::size_t> chosen;
  const std::size_t shown = std::min(most, rows.size());
  for (std::size_t at = 0; at < shown; ++at) {
    chosen.insert(shown > 1 ? at * (rows.size() - 1) / (shown - 1) : 0);
  }
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (marked && rows[at].plan.index == *marked) chosen.insert(at);
  }
  return chosen;
}

// Brief names that stand for more than one of the offers shown.
std::set<std::string> ambiguous_offers(std::span<const PlanRow> rows, const std::set<std::size_t>& shown) {
  std::map<std::string, std::set<std::string>> whole;
  for (const std::size_t at : shown)
    whole[short_offer(rows[at].offer)].insert(readable_offer(rows[at].offer));
  std::set<std::string> ambiguous;
  for (const auto& [brief, offers] : whole)
    if (offers.size() > 1) ambiguous.insert(brief);
  return ambiguous;
}

template <typename Readable>
std::string quantiles(const std::array<double, 4>& values, Readable readable) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{} (p{:.0f})", i > 0 ? ", " : "", readable(values[i]), 100 * kQuantiles[i]);
  return text;
}

}  // namespace

const std::vector<std::string>& front_columns() {
  static const std::vector<std::string> kColumns = {"time",  "cost",   "GPUs",    "device",
                                                    "offer", "layout", "batch",   "protection",
                                                    "step",  "MFU",    "goodput", "plan"};
  return kColumns;
}

std::vector<std::string> front_cells(const PlanRow& row, Brief brief) {
  return {readable_duration(row.outcome.time_to_train_s),
          readable_money(row.outcome.cost_usd),
          std::to_string(row.plan.gpus),
          row.offer.device,
          brief.offer ? short_offer(row.offer) : readable_offer(row.offer),
          brief.layout ? short_layout(row.plan.layout) : readable_layout(row.plan.layout),
          std::to_string(row.plan.global_batch),
          readable_protection(row.plan.protection),
          readable_duration(row.outcome.step_time_s),
          readable_percent(row.mfu),
          readable_percent(row.outcome.goodput),
          row.id};
}

std::vector<std::string> front_warnings(std::span<const PlanRow> rows) {
  std::vector<std::string> warnings;
  const auto borderline = std::count_if(
      rows.begin(), rows.end(), [](const PlanRow& row) { return row.fit == costmodel::Fit::kBorderline; });
  if (borderline > 0)
    warnings.push_back(
        fmt::format("{} of {} plans fill the memory up to less than the memory model's error (borderline): "
                    "try them first.",
                    borderline, rows.size()));
  std::set<std::string> unproven;
  for (const PlanRow& row : rows)
    if (!row.framework_has_runs) unproven.emplace(row.framework_profile);
  for (const std::string& profile : unproven)
    warnings.push_back(
        fmt::format("No published run of this kind of model stands behind the constants of {}.", profile));
  const auto struck = std::count_if(rows.begin(), rows.end(), [](const PlanRow& row) {
    return row.outcome.steps_per_failure > 0 && row.outcome.steps_per_failure < kFewestSteps;
  });
  if (struck > 0)
    warnings.push_back(
        fmt::format("{} of {} plans are struck by a failure every {:g} steps or less: their times, "
                    "by which the search orders them, are rough (explain gives them more precisely).",
                    struck, rows.size(), kFewestSteps));
  return warnings;
}

std::string front_text(std::span<const PlanRow> rows, std::optional<std::uint64_t> marked, std::size_t most) {
  const std::set<std::size_t> chosen = chosen_rows(rows, marked, most);
  TextTable table{{""}, {}, {false}};
  for (const std::string& header : front_columns()) {
    table.header.push_back(header);
    table.right.push_back(header != "device" && header != "offer" && header != "layout" &&
                          header != "protection");
  }
  const std::set<std::string> ambiguous = ambiguous_offers(rows, chosen);
  for (const std::size_t at : chosen) {
    const bool offer_is_clear = !ambiguous.contains(short_offer(rows[at].offer));
    std::vector<std::string> cells = front_cells(rows[at], {.offer = offer_is_clear, .layout = true});
    cells.insert(cells.begin(), marked && rows[at].plan.index == *marked ? "*" : "");
    table.rows.push_back(std::move(cells));
  }
  std::string text = table.str();
  if (chosen.size() < rows.size())
    text += fmt::format("({} of {} plans on the front)\n", chosen.size(), rows.size());
  for (const std::string& warning : front_warnings(rows)) text += warning + "\n";
  return text;
}

std::string plan_text(const search::Space& space, const PlanRow& row) {
  const search::Problem& problem = space.problem();
  const search::Plan& plan = row.plan;
  const search::Outcome& outcome = row.outcome;
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", label, inputs::printable(value));
  };
  const auto& probability = problem.goal.probability;
  line("time to train", readable_duration(outcome.time_to_train_s) +
                            (probability ? fmt::format(", with a probability of {}; {} in the mean",
                                                       readable_percent(*probability),
                                                       readable_duration(outcome.spread.mean_s))
                                         : "") +
                            (outcome.steps_per_failure > 0 && outcome.steps_per_failure < kFewestSteps
                                 ? "; rough, with a failure every few steps"
                                 : ""));
  line("cost",
       fmt::format(
           "{} ({} a node-hour, {} node{}{}{})", readable_money(outcome.cost_usd),
           readable_money(row.offer.usd_per_node_hour), outcome.nodes, outcome.nodes == 1 ? "" : "s",
           row.offer.as_of.empty() ? "" : ", price of " + row.offer.as_of,
           row.offer.transfer_usd > 0 ? ", and egress " + readable_money(row.offer.transfer_usd) : ""));
  if (outcome.spread.deviation_s > 0) {
    const bool rough = outcome.spread.cycles < kFewestCycles;
    line("runs take",
         quantiles(row.quantiles_s, readable_duration) + (rough ? "; rough, with so few failures" : ""));
    line("and cost", quantiles(row.quantiles_usd, readable_money));
  }
  line("hardware", fmt::format("{} {} of {}", plan.gpus, row.offer.device, readable_offer(row.offer)));
  line("layout", fmt::format("{}, {}", name(plan.layout.framework), readable_layout(plan.layout)));
  line("batch", fmt::format("{} sequences of {} tokens", plan.global_batch, problem.recipe.sequence_length));
  line("protection", readable_protection(plan.protection) +
                         (outcome.checkpoint_interval_s > 0
                              ? ", a checkpoint every " + readable_duration(outcome.checkpoint_interval_s)
                              : "") +
                         (outcome.k_max > 0 ? fmt::format(", a voluntary restart after {} lost group{}",
                                                          outcome.k_max, outcome.k_max > 1 ? "s" : "")
                                            : ""));
  if (plan.islands.count > 1) {
    line("islands",
         fmt::format("{}, synchronised every {} steps", plan.islands.count, plan.islands.inner_steps));
  }
  line("step", fmt::format("{}, MFU {}, mostly {}, then {}", readable_duration(outcome.step_time_s),
                           readable_percent(row.mfu), row.bottleneck, row.top_overhead));
  line("goodput", fmt::format("{}, available {}", readable_percent(outcome.goodput),
                              readable_percent(outcome.availability)));
  line("memory", fmt::format("{} of {} usable: {}", readable_bytes(outcome.memory_bytes),
                             readable_bytes(outcome.memory_capacity_bytes), costmodel::fit_name(row.fit)));
  line("evidence",
       std::string(name(outcome.evidence)) +
           (row.framework_has_runs ? ""
                                   : fmt::format("; no published run of this kind of model stands behind {}",
                                                 row.framework_profile)));
  line("plan", row.id);
  return text;
}

}  // namespace trainfront::engine
