#include "engine/broken_rule.hpp"

#include <algorithm>

#include "costmodel/framework_profile.hpp"
#include "costmodel/legality.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Framework;
using costmodel::Layout;
using costmodel::Schedule;

template <typename Value>
Value first_or(const std::vector<Value>& list, Value plain) {
  return list.empty() ? plain : list.front();
}

int plainest_zero(const Layout& layout) {
  if (layout.framework == Framework::kTorchtitan) return layout.pp > 1 ? 2 : 3;
  return 1;
}

Layout described(const search::Problem& problem, const costmodel::Hardware& hardware) {
  using costmodel::ContextExchange;
  const search::LayoutChoices& choices = problem.layout;
  Layout layout;
  layout.framework = first_or(choices.framework, Framework::kMegatron);
  layout.tp = first_or(choices.tp, 1);
  layout.cp = first_or(choices.cp, 1);
  if (layout.cp > 1) {
    const ContextExchange usual =
        default_exchange(costmodel::default_profile(layout.framework), problem.model);
    layout.cp_type = choices.cp_type ? first_or(*choices.cp_type, usual) : usual;
    const bool apart = layout.cp_type == ContextExchange::kAllToAllRing && layout.tp > 0;
    if (apart) layout.cp_heads = widest_head_exchange(problem.model, layout, hardware);
  }
  layout.pp = first_or(choices.pp, 1);
  layout.vpp = first_or(choices.vpp, 1);
  layout.ep = first_or(choices.ep, 1);
  layout.etp = first_or(choices.etp, 1);
  layout.sp = first_or(choices.sp, layout.tp > 1 && layout.framework != Framework::kDeepspeed);
  layout.zero = first_or(choices.zero, plainest_zero(layout));
  layout.shard_group = first_or(choices.shard_group, 0);
  layout.micro_batch = first_or(choices.micro_batch, 1);
  layout.recompute = first_or(choices.recompute, costmodel::Recompute::kNone);
  if (choices.recompute_modules && layout.recompute == costmodel::Recompute::kSelective)
    layout.modules = first_or(*choices.recompute_modules, costmodel::RecomputeModules{});
  layout.schedule = first_or(choices.schedule, layout.vpp > 1 ? Schedule::kInterleaved : Schedule::k1f1b);
  return layout;
}

}  // namespace

std::optional<BrokenRule> broken_rule(const search::Problem& problem) {
  if (problem.hardware.empty() || problem.gpus.empty() || problem.global_batches.empty()) return std::nullopt;
  const costmodel::Hardware& hardware = problem.hardware.front().hardware;
  const std::int64_t batch = problem.global_batches.front();
  Layout layout = described(problem, hardware);
  const std::int64_t gpus = problem.gpus.front(), group = std::max(1, layout.group_gpus());
  layout.dp = static_cast<int>(gpus / group);
  costmodel::Rule rule = costmodel::check_layout(problem.model, problem.recipe, layout, hardware);
  if (rule == costmodel::Rule::kNone && gpus % group != 0) rule = costmodel::Rule::kGpusNotDivisible;
  if (rule == costmodel::Rule::kNone)
    rule = costmodel::check_batch(problem.model, problem.recipe, layout, batch);
  if (rule == costmodel::Rule::kNone) return std::nullopt;
  return BrokenRule{rule,
                    costmodel::explain_rule(rule, problem.model, problem.recipe, layout, hardware, batch)};
}

}  // namespace trainfront::engine
