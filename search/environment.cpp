#include "search/environment.hpp"

#include <algorithm>
#include <limits>

#include "costmodel/parameters.hpp"
#include "faults/protection_check.hpp"

namespace trainfront::search {

using costmodel::Rule;
using faults::Scheme;

faults::FailingUnit failing_unit(const faults::Protection& protection, std::int64_t nodes, std::int64_t dp,
                                 int group_gpus, int gpus_per_node) {
  if (!faults::masks_failures(protection)) return {.units = nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
  return faults::failing_unit(dp, group_gpus, gpus_per_node);
}

std::int64_t groups_per_state_copy(const costmodel::Layout& layout) {
  std::int64_t groups = 1;
  if (layout.zero > 0) {
    const std::int64_t ranks =
        layout.shard_group > 0 ? layout.shard_group : std::int64_t{layout.dp} * layout.cp;
    groups = (ranks + layout.cp - 1) / layout.cp;
  }
  const int expert_ranks = layout.etp * layout.ep;
  const int stage_ranks = layout.tp * layout.cp;
  return std::max<std::int64_t>(groups, (expert_ranks + stage_ranks - 1) / stage_ranks);
}

Rule protection_rule(const faults::Protection& protection, const faults::FailureLaw& law,
                     const faults::FailingUnit& unit, std::int64_t dp, std::int64_t state_copy_groups) {
  if (!faults::masks_failures(protection)) return Rule::kNone;
  switch (faults::check(unit.units, protection, law, faults::state_copies(unit, dp, state_copy_groups))) {
    case faults::ProtectionError::kNone:
      return Rule::kNone;
    case faults::ProtectionError::kStateLost:
      return Rule::kStateCoverage;
    default:
      return Rule::kRedundancy;
  }
}

Rule islands_rule(const costmodel::Islands& islands, std::int64_t dp, std::int64_t nodes) {
  return dp % islands.count == 0 && nodes % islands.count == 0 ? Rule::kNone : Rule::kIslands;
}

double steps_needed(const costmodel::Recipe& recipe, std::int64_t global_batch) {
  const double batch_tokens = static_cast<double>(global_batch) * recipe.sequence_length;
  const double steps = recipe.tokens / batch_tokens;
  if (recipe.critical_batch_tokens <= 0) return steps;
  return steps * (1.0 + batch_tokens / recipe.critical_batch_tokens);
}

double checkpoint_bytes(const costmodel::Model& model, const costmodel::Recipe& recipe) {
  const costmodel::ParameterCounts counts = costmodel::count_parameters(model);
  // fp32 master weights; Adam keeps two moments beside them, plain SGD nothing.
  const double optimizer_bytes = recipe.optimizer == costmodel::Optimizer::kAdam ? 12.0 : 4.0;
  return static_cast<double>(counts.total + counts.mtp) * (2.0 + optimizer_bytes);
}

double node_failures_per_s(const FailureModel& failures, const HardwareClass& hardware,
                           const costmodel::Offer& offer) {
  const double mtbf_s = hardware.node_mtbf_s > 0 ? hardware.node_mtbf_s : failures.node_mtbf_s;
  return 1.0 / mtbf_s + offer.preemptions_per_node_hour / 3600.0;
}

std::int64_t spare_nodes(const faults::Protection& protection, std::int64_t nodes) {
  return protection.spares + (nodes * protection.spares_per_1000 + 999) / 1000;
}

faults::Environment recovery_costs(const FailureModel& failures, const faults::Protection& protection,
                                   std::int64_t nodes, double state_bytes) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(nodes);
  const double shared = failures.storage_bytes_per_s > 0 ? failures.storage_bytes_per_s : kUnlimited;
  const double own =
      failures.node_storage_bytes_per_s > 0 ? n * failures.node_storage_bytes_per_s : kUnlimited;
  const double transfer_s = state_bytes / std::min(shared, own);
  const bool saves = protection.scheme != Scheme::kNone;

  faults::Environment environment;
  environment.detect_s = failures.detect_s;
  environment.reorder_s = failures.controller_s + failures.shrink_s;
  environment.restart_s = failures.detect_s +
                          (spare_nodes(protection, nodes) > 0 ? 0.0 : failures.replace_s) +
                          failures.start_fixed_s + failures.start_per_node_s * n + (saves ? transfer_s : 0.0);
  environment.save_s = saves ? failures.blocking_fixed_s + failures.blocking_share * transfer_s : 0.0;
  return environment;
}

}  // namespace trainfront::search
