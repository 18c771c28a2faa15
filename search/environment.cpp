#include "search/environment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "costmodel/parameters.hpp"
#include "faults/protection_check.hpp"
#include "faults/spare_pool.hpp"

namespace trainfront::search {

using costmodel::Rule;
using faults::CheckpointTier;
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

NodeFailures node_failures(const FailureModel& failures, const HardwareClass& hardware,
                           const costmodel::Offer& offer) {
  NodeFailures node;
  node.failures_per_s = 1.0 / (hardware.node_mtbf_s > 0 ? hardware.node_mtbf_s : failures.node_mtbf_s);
  node.preempted_together = std::max(1.0, offer.preempted_together);
  node.preemptions_per_s = offer.preemptions_per_node_hour / 3600.0 / node.preempted_together;
  return node;
}

std::int64_t spare_nodes(const faults::Protection& protection, std::int64_t nodes) {
  return protection.spares + (nodes * protection.spares_per_1000 + 999) / 1000;
}

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double or_unlimited(double bytes_per_s) {
  return bytes_per_s > 0 ? bytes_per_s : kUnlimited;
}

// Chance that a burst of geometric size, `together` nodes in the mean, takes both nodes of some pair, all
// `nodes` being paired: of j nodes none is another's peer with the chance of prod over i < j of
// (n - 2i)/(n - i).
double takes_a_pair(double together, std::int64_t nodes) {
  const double more = 1 - 1 / together;
  const auto n = static_cast<double>(nodes);
  double size = 1 - more;  // chance of the size j
  double apart = 1;
  double survives = 0;
  for (std::int64_t j = 1; j <= nodes; ++j) {
    const auto i = static_cast<double>(j - 1);
    apart *= std::max(0.0, (n - 2 * i) / (n - i));
    survives += size * apart;
    if (apart <= 0 || size < 1e-12) break;
    size *= more;
  }
  return std::clamp(1 - survives, 0.0, 1.0);
}

}  // namespace

faults::Environment recovery_costs(const FailureModel& failures, const faults::Protection& protection,
                                   std::int64_t nodes, double state_bytes) {
  const double n = static_cast<double>(nodes);
  const double shared_s = state_bytes / std::min(or_unlimited(failures.storage_bytes_per_s),
                                                 n * or_unlimited(failures.node_storage_bytes_per_s));
  const bool saves = protection.scheme != Scheme::kNone;

  faults::Environment environment;
  environment.detect_s = failures.detect_s;
  environment.reorder_s = failures.controller_s + failures.shrink_s;
  environment.restart_s = failures.detect_s +
                          (spare_nodes(protection, nodes) > 0 ? 0.0 : failures.replace_s) +
                          failures.start_fixed_s + failures.start_per_node_s * n + (saves ? shared_s : 0.0);
  environment.save_s = saves ? failures.blocking_fixed_s + failures.blocking_share * shared_s : 0.0;
  if (protection.rejoins) {
    environment.repair_s = failures.repair_s;
    environment.rejoin_s = environment.reorder_s + failures.start_per_node_s * n;
  }
  if (!saves || protection.tier == CheckpointTier::kShared) return environment;
  const QuickTier& tier = protection.tier == CheckpointTier::kLocal ? failures.local : failures.peer;
  const double quick_s = state_bytes / (n * or_unlimited(tier.node_bytes_per_s));
  environment.deep_save_s = environment.save_s;
  environment.save_s = failures.blocking_fixed_s + tier.blocking_share * quick_s;
  environment.restart_s += quick_s - shared_s;
  environment.deep_restart_s = std::max(0.0, shared_s - quick_s);
  return environment;
}

double deep_share(const FailureModel& failures, CheckpointTier tier, const NodeFailures& node,
                  std::int64_t nodes, double restart_s) {
  const double events = node.events_per_s();
  if (tier == CheckpointTier::kShared || !(events > 0)) return 0;
  const double lost = failures.node_loss_share * node.failures_per_s;
  double deep = lost + node.preemptions_per_s;
  if (tier == CheckpointTier::kPeer && nodes > 1) {
    // A lost node's peer follows it before the restart has made the pair whole, or a burst takes both.
    const double peer_lost = lost + node.preemptions_per_s * node.preempted_together;
    const double follows = -std::expm1(-peer_lost * restart_s);
    const double by_burst = 1 - (1 - takes_a_pair(node.preempted_together, nodes)) * (1 - follows);
    deep = lost * follows + node.preemptions_per_s * by_burst;
  }
  return std::min(1.0, deep / events);
}

double most_wait_s(const FailureModel& failures, const faults::Protection& protection, std::int64_t nodes) {
  return spare_nodes(protection, nodes) > 0 ? failures.replace_s : 0;
}

double mean_wait_s(const FailureModel& failures, const faults::Protection& protection,
                   const NodeFailures& node, std::int64_t nodes) {
  const double most_s = most_wait_s(failures, protection, nodes);
  if (!(most_s > 0)) return 0;
  const double node_s = static_cast<double>(nodes) * most_s;
  const faults::NodeLosses losses{.single = node_s * node.failures_per_s,
                                  .bursts = node_s * node.preemptions_per_s,
                                  .together = node.preempted_together};
  return most_s * faults::mean_wait_for_replacement(losses, spare_nodes(protection, nodes));
}

faults::Environment environment_in(const FailureModel& failures, const faults::Protection& protection,
                                   const faults::Environment& costs, const NodeFailures& node,
                                   const faults::FailingUnit& unit, std::int64_t nodes) {
  return environment_in(failures, protection, costs, node, unit, nodes,
                        mean_wait_s(failures, protection, node, nodes));
}

faults::Environment environment_in(const FailureModel& failures, const faults::Protection& protection,
                                   const faults::Environment& costs, const NodeFailures& node,
                                   const faults::FailingUnit& unit, std::int64_t nodes, double wait_s) {
  faults::Environment environment = costs;
  environment.group_mtbf_s = unit_mtbf_s(node.events_per_s(), unit);
  if (protection.rejoins) environment.idle_spares = spare_nodes(protection, nodes) / unit.nodes_per_unit;
  environment.restart_s += wait_s;
  environment.deep_share = deep_share(failures, protection.tier, node, nodes, environment.restart_s);
  return environment;
}

faults::FailureLaw law_in(const FailureModel& failures, const faults::Environment& environment,
                          const NodeFailures& node) {
  faults::FailureLaw law = faults::law_in(failures.law, environment);
  if (node.preemptions_per_s > 0 && node.preempted_together > 1) {
    law.burst_share = node.preemptions_per_s / node.events_per_s();
    law.burst_units = node.preempted_together;
  }
  return law;
}

}  // namespace trainfront::search
