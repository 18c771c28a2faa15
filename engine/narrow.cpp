#include "engine/narrow.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/errors.hpp"
#include "engine/narrow_protection.hpp"
#include "engine/wishes.hpp"
#include "inputs/catalog.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {
namespace {

// As in the sweep file.
constexpr std::int64_t kMostDegree = 1 << 20;
constexpr std::int64_t kMostGpus = 10'000'000;
constexpr std::int64_t kMostBatch = 100'000'000;

void keep_offers(search::Problem& problem, const Wish& wish,
                 const std::function<bool(const costmodel::Offer&)>& allowed) {
  for (search::HardwareClass& rented : problem.hardware) {
    std::erase_if(rented.offers, [&](const costmodel::Offer& offer) { return !allowed(offer); });
  }
  keep(problem.hardware, wish, [](const search::HardwareClass& rented) { return !rented.offers.empty(); });
}

using Narrow = std::function<void(search::Problem&, const Wish&)>;

std::map<std::string, Narrow> layout_keys() {
  std::map<std::string, Narrow> keys;
  const auto number = [&](const char* key, std::vector<int> search::LayoutChoices::*values,
                          std::int64_t least = 1, std::int64_t most = kMostDegree) {
    keys[key] = [values, least, most](search::Problem& problem, const Wish& wish) {
      problem.layout.*values = {static_cast<int>(whole_number(wish, least, most))};
    };
  };
  number("tp", &search::LayoutChoices::tp);
  number("cp", &search::LayoutChoices::cp);
  number("pp", &search::LayoutChoices::pp);
  number("vpp", &search::LayoutChoices::vpp);
  number("ep", &search::LayoutChoices::ep);
  number("etp", &search::LayoutChoices::etp);
  number("zero", &search::LayoutChoices::zero, 0, 3);
  number("shard_group", &search::LayoutChoices::shard_group, 0);
  number("micro_batch", &search::LayoutChoices::micro_batch);
  keys["sp"] = [](search::Problem& problem, const Wish& wish) { problem.layout.sp = {truth(wish)}; };
  keys["framework"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.framework = {named<costmodel::Framework>(wish, 3)};
  };
  keys["recompute"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.recompute = {named<costmodel::Recompute>(wish, 3)};
  };
  // As the front writes what is nothing to choose.
  keys["cp_type"] = [](search::Problem& problem, const Wish& wish) {
    if (wish.value != "none") problem.layout.cp_type = {{named<costmodel::ContextExchange>(wish, 4)}};
  };
  keys["recompute_modules"] = [](search::Problem& problem, const Wish& wish) {
    if (wish.value == "none") return;
    costmodel::RecomputeModules modules;
    if (!costmodel::read_modules(wish.value, modules)) refuse(wish, "as in moe_act+layernorm");
    problem.layout.recompute_modules = {{modules}};
  };
  keys["schedule"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.schedule = {named<costmodel::Schedule>(wish, 4)};
  };
  keys["global_batch"] = [](search::Problem& problem, const Wish& wish) {
    problem.global_batches = {whole_number(wish, 1, kMostBatch)};
  };
  keys["gpus"] = [](search::Problem& problem, const Wish& wish) {
    problem.gpus = {whole_number(wish, 1, kMostGpus)};
  };
  return keys;
}

std::map<std::string, Narrow> plan_keys() {
  std::map<std::string, Narrow> keys = layout_keys();
  const auto offer = [&](const char* key, std::string costmodel::Offer::*member) {
    keys[key] = [member](search::Problem& problem, const Wish& wish) {
      keep_offers(problem, wish, [&](const costmodel::Offer& one) { return one.*member == wish.value; });
    };
  };
  offer("provider", &costmodel::Offer::provider);
  offer("region", &costmodel::Offer::region);
  offer("zone", &costmodel::Offer::zone);
  offer("instance", &costmodel::Offer::instance);
  keys["price_model"] = [](search::Problem& problem, const Wish& wish) {
    keep_offers(problem, wish, [&](const costmodel::Offer& one) {
      return inputs::price_model_name(one.price_model) == wish.value;
    });
  };
  keys["device"] = [](search::Problem& problem, const Wish& wish) {
    keep(problem.hardware, wish,
         [&](const search::HardwareClass& rented) { return rented.hardware.device.id == wish.value; });
  };
  for (const char* key : {"protection", "r", "sub_shards", "spares", "k_max", "checkpoint_tier", "rejoin"})
    keys[key] = [](search::Problem& problem, const Wish& wish) {
      narrow_protections(problem.protections, wish);
    };
  const auto islands = [&](const char* key, int costmodel::Islands::*member) {
    keys[key] = [member](search::Problem& problem, const Wish& wish) {
      const int wanted = static_cast<int>(whole_number(wish, 1, kMostDegree));
      keep(problem.islands, wish, [&](const costmodel::Islands& one) { return one.*member == wanted; });
    };
  };
  islands("islands", &costmodel::Islands::count);
  islands("inner_steps", &costmodel::Islands::inner_steps);
  return keys;
}

// dp is no choice of its own: it is the GPU count over the group.
void apply_dp(search::Problem& problem, const Wish& wish) {
  const std::int64_t dp = whole_number(wish, 1, kMostGpus);
  const auto only = [&](const std::vector<int>& values) -> std::int64_t {
    return values.size() == 1 ? values[0] : 0;
  };
  const std::int64_t cp = problem.layout.cp.empty() ? 1 : only(problem.layout.cp);
  const std::int64_t group = only(problem.layout.tp) * only(problem.layout.pp) * cp;
  if (group == 0) refuse(wish, "dp needs tp and pp (and cp) beside it, or give gpus instead");
  if (problem.layout.cp.empty()) problem.layout.cp = {1};
  if (dp > kMostGpus / group) refuse(wish, fmt::format("it makes more than {} GPUs", kMostGpus));
  problem.gpus = {group * dp};
}

// Modules that are asked for ask for selective recomputation.
void apply_modules(search::Problem& narrowed, const search::Problem& before) {
  const auto& modules = narrowed.layout.recompute_modules;
  if (!modules || modules == before.layout.recompute_modules) return;
  auto& recompute = narrowed.layout.recompute;
  const auto selective = costmodel::Recompute::kSelective;
  if (!recompute.empty() && std::find(recompute.begin(), recompute.end(), selective) == recompute.end()) {
    refuse({"recompute_modules", costmodel::modules_name(modules->front())},
           "it goes with recompute=selective alone");
  }
  recompute = {selective};
}

}  // namespace

search::Problem narrow(const search::Problem& problem, const std::string& text) {
  search::Problem narrowed = problem;
  const std::map<std::string, Narrow> keys = plan_keys();
  std::optional<Wish> dp;
  for (const Wish& wish : parse_wishes(text)) {
    if (wish.key == "dp") {
      dp = wish;
      continue;
    }
    const auto found = keys.find(wish.key);
    if (found == keys.end()) {
      std::vector<std::string> known = {"dp"};
      for (const auto& [key, unused] : keys) known.push_back(key);
      const std::string meant = inputs::nearest(wish.key, known);
      throw UsageError(fmt::format("--layout: unknown key {}; {}", inputs::in_quotes(wish.key),
                                   meant.empty() ? "one of " + inputs::join(known)
                                                 : "did you mean " + inputs::in_quotes(meant) + "?"));
    }
    found->second(narrowed, wish);
  }
  if (dp) apply_dp(narrowed, *dp);
  apply_modules(narrowed, problem);
  return narrowed;
}

}  // namespace trainfront::engine
