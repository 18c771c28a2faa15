#include "search/losses.hpp"

#include <cmath>

#include "faults/goodput.hpp"
#include "search/environment.hpp"
#include "search/plan_run.hpp"

namespace trainfront::search {
namespace {

// What is left of a difference of equal times is nothing.
double without_residue(double seconds, double whole_s) {
  return std::abs(seconds) <= 1e-12 * whole_s ? 0 : seconds;
}

}  // namespace

Losses losses(const Space& space, std::uint64_t index) {
  const Problem& problem = space.problem();
  const Plan plan = space.decode(index);
  const HardwareClass& rented = problem.hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Offer& offer = rented.offers[static_cast<std::size_t>(plan.offer)];
  const PlanRun run = plan_run(problem, plan);
  const auto chance = chance_of(problem.goal);
  const faults::RunTime time = faults::run_time(run.table, run.step, run.environment, run.steps, chance);
  const faults::LossTree tree = faults::loss_tree(run.table, run.step, run.environment, run.steps, chance);

  costmodel::Recipe small_batches = problem.recipe;
  small_batches.critical_batch_tokens = 0;
  // Of the events: a burst that takes many nodes is one of them.
  const NodeFailures node = node_failures(problem.failures, rented, offer);
  const double preempted = node.preemptions_per_s > 0 ? node.preemptions_per_s / node.events_per_s() : 0;

  Losses parts;
  parts.steps = steps_needed(small_batches, plan.global_batch);
  parts.step_s = run.step.fixed_s + run.step.per_stack_s;
  const auto part = [&](double seconds) { return without_residue(seconds, time.time_s); };
  const auto failures_part = [&](double seconds) {
    const double kept = part(seconds);
    parts.preemption_s += preempted * kept;
    return kept - preempted * kept;
  };
  parts.batch_s = part((run.steps - parts.steps) * parts.step_s);
  parts.redundancy_s = part(tree.redundancy_s);
  parts.patches_s = failures_part(tree.patches_s);
  parts.checkpoints_s = part(tree.checkpoints_s);
  parts.lost_work_s = failures_part(tree.lost_work_s);
  parts.restarts_s = failures_part(tree.restarts_s);
  parts.reserve_s = time.time_s - time.spread.mean_s;

  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, rented.hardware.gpus_per_node);
  const std::int64_t spares = spare_nodes(plan.protection, nodes);
  const double rent_usd = costmodel::rent_usd(offer, nodes + spares, time.time_s);
  const double usd_per_s = rent_usd / time.time_s / static_cast<double>(nodes + spares);
  parts.computing_usd_per_s = usd_per_s * static_cast<double>(nodes);
  parts.egress_usd = offer.transfer_usd;
  parts.idle_spares_usd = usd_per_s * static_cast<double>(spares) * time.time_s;
  return parts;
}

}  // namespace trainfront::search
