#pragma once

#include <cstdint>
#include <optional>

#include "costmodel/layout.hpp"
#include "costmodel/legality.hpp"
#include "costmodel/offer.hpp"
#include "faults/cycle.hpp"
#include "faults/failing_unit.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// What fails as one under a protection: a node where the first failure ends the cycle anyway, else a group
// (or the groups that share a node).
faults::FailingUnit failing_unit(const faults::Protection& protection, std::int64_t nodes, std::int64_t dp,
                                 int group_gpus, int gpus_per_node);

// Hot spare nodes paid for beside `nodes` computing ones.
std::int64_t spare_nodes(const faults::Protection& protection, std::int64_t nodes);

// Neighbouring groups that hold one whole copy of the training state between them: 1 if every group has its
// own.
std::int64_t groups_per_state_copy(const costmodel::Layout& layout);

// kRedundancy or kStateCoverage if the protection cannot work on `dp` groups that fail in such units.
costmodel::Rule protection_rule(const faults::Protection& protection, const faults::FailureLaw& law,
                                const faults::FailingUnit& unit, std::int64_t dp,
                                std::int64_t state_copy_groups);

// kIslands unless groups, batch and nodes divide over the islands.
costmodel::Rule islands_rule(const costmodel::Islands& islands, std::int64_t dp, std::int64_t nodes);

// kNodes if the offer has fewer.
inline costmodel::Rule offer_rule(const costmodel::Offer& offer, std::int64_t paid_nodes) {
  return offer.max_nodes > 0 && paid_nodes > offer.max_nodes ? costmodel::Rule::kNodes
                                                             : costmodel::Rule::kNone;
}

// Optimiser steps that see Recipe::tokens, and with a critical batch B_crit 1 + B/B_crit times as many at a
// batch of B tokens (McCandlish et al., arXiv 1812.06162, equation 2.11). Not rounded.
double steps_needed(const costmodel::Recipe& recipe, std::int64_t global_batch);

// Bytes of a checkpoint: bf16 weights and what the optimiser keeps in fp32.
double checkpoint_bytes(const costmodel::Model& model, const costmodel::Recipe& recipe);

// How often one rented node is struck. Preemptions that take several nodes at once are fewer events than
// nodes lost.
struct NodeFailures {
  double failures_per_s = 0;     // of its own: hardware, software
  double preemptions_per_s = 0;  // as events: nodes lost over nodes lost together
  double preempted_together = 1;

  // Events that end a cycle or cost a patch, whatever number of nodes they take.
  double events_per_s() const { return failures_per_s + preemptions_per_s; }
  bool operator==(const NodeFailures&) const = default;
};
NodeFailures node_failures(const FailureModel& failures, const HardwareClass& hardware,
                           const costmodel::Offer& offer);

// What failures cost a plan on `nodes` computing nodes, apart from how often they strike: group_mtbf_s and
// deep_share are left 0, and hot spares are taken never to run short.
faults::Environment recovery_costs(const FailureModel& failures, const faults::Protection& protection,
                                   std::int64_t nodes, double state_bytes);

// A restart waits no longer than this besides, when hot spares run short; 0 without any.
double most_wait_s(const FailureModel& failures, const faults::Protection& protection, std::int64_t nodes);

// What it waits in the mean where nodes fail so often; microseconds.
double mean_wait_s(const FailureModel& failures, const faults::Protection& protection,
                   const NodeFailures& node, std::int64_t nodes);

// The costs where nodes fail so often, as `unit` sees it. `wait_s`, if given: mean_wait_s().
faults::Environment environment_in(const FailureModel& failures, const faults::Protection& protection,
                                   const faults::Environment& costs, const NodeFailures& node,
                                   const faults::FailingUnit& unit, std::int64_t nodes);
faults::Environment environment_in(const FailureModel& failures, const faults::Protection& protection,
                                   const faults::Environment& costs, const NodeFailures& node,
                                   const faults::FailingUnit& unit, std::int64_t nodes, double wait_s);

// The law that cycles of `unit` see there: lost nodes of a burst are taken to lie in as many units.
faults::FailureLaw law_in(const FailureModel& failures, const faults::Environment& environment,
                          const NodeFailures& node);

// Of the events, those that destroy the quick tier's checkpoint (docs/failures.md).
double deep_share(const FailureModel& failures, faults::CheckpointTier tier, const NodeFailures& node,
                  std::int64_t nodes, double restart_s);

// Nothing: plans are compared by their means.
inline std::optional<faults::Chance> chance_of(const Goal& goal) {
  if (!goal.probability) return std::nullopt;
  return faults::Chance(*goal.probability);
}

// Mean time between failures of one unit.
inline double unit_mtbf_s(double failures_per_node_s, const faults::FailingUnit& unit) {
  return 1.0 / (failures_per_node_s * static_cast<double>(unit.nodes_per_unit));
}

}  // namespace trainfront::search
