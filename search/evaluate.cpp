#include "search/evaluate.hpp"

#include <cmath>

#include "costmodel/memory.hpp"
#include "faults/cycle_kernel.hpp"
#include "search/environment.hpp"
#include "search/host_rules.hpp"
#include "search/plan_rules.hpp"
#include "search/plan_run.hpp"

namespace trainfront::search {

Outcome evaluate(const Space& space, std::uint64_t index) {
  const Problem& problem = space.problem();
  const Plan plan = space.decode(index);
  const HardwareClass& rented = problem.hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Hardware& hardware = rented.hardware;
  const costmodel::Offer& offer = rented.offers[static_cast<std::size_t>(plan.offer)];
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);

  Outcome outcome;
  outcome.nodes = nodes + spare_nodes(plan.protection, nodes);
  outcome.memory_capacity_bytes = costmodel::usable_memory_bytes(hardware.device);
  const auto unit =
      failing_unit(plan.protection, nodes, plan.layout.dp, plan.layout.group_gpus(), hardware.gpus_per_node);

  outcome.rule = step_rule(problem, plan.layout, plan.gpus, nodes, plan.global_batch, plan.islands);
  if (outcome.rule == costmodel::Rule::kNone) outcome.rule = offer_rule(offer, outcome.nodes);
  if (outcome.rule == costmodel::Rule::kNone)
    outcome.rule = host_rule(offer, host_need(problem, plan.protection, nodes, hardware.gpus_per_node,
                                              checkpoint_bytes(problem.model, problem.recipe)));
  if (outcome.rule == costmodel::Rule::kNone)
    outcome.rule = loading_rule(problem, plan.protection, plan.gpus, nodes, hardware.device);
  if (outcome.rule == costmodel::Rule::kNone)
    outcome.rule = protection_rule(plan.protection, problem.failures.law, unit, plan.layout.dp,
                                   groups_per_state_copy(plan.layout));
  if (outcome.rule != costmodel::Rule::kNone) return outcome;

  outcome.memory_bytes =
      costmodel::memory_use(problem.model, problem.recipe, plan.layout, plan.global_batch).parts.total();
  if (!(outcome.memory_bytes <= outcome.memory_capacity_bytes)) {
    outcome.verdict = Verdict::kOutOfMemory;
    return outcome;
  }

  const PlanRun planned = plan_run(problem, plan);
  const faults::RunTime run = faults::run_time(planned.table, planned.step, planned.environment,
                                               planned.steps, chance_of(problem.goal));

  outcome.step_time_s = planned.step.fixed_s + planned.step.per_stack_s;
  outcome.time_to_train_s = run.time_s;
  outcome.spread = run.spread;
  outcome.cost_usd = costmodel::bill_usd(offer, outcome.nodes, run.time_s);
  outcome.checkpoint_interval_s = run.interval_s;
  outcome.shared_interval_s = run.deep_interval_s;
  outcome.k_max = run.k_max;
  outcome.is_struck_too_often =
      planned.table.masks && faults::is_struck_too_often(static_cast<double>(planned.unit.units),
                                                         1 / planned.environment.group_mtbf_s, planned.step);
  outcome.steps_per_failure =
      planned.environment.group_mtbf_s / static_cast<double>(planned.unit.units) / outcome.step_time_s;
  outcome.availability = run.availability;
  outcome.goodput = planned.steps * outcome.step_time_s / run.spread.mean_s;
  outcome.evidence = planned.evidence;
  const bool finite = std::isfinite(outcome.time_to_train_s) && std::isfinite(outcome.cost_usd);
  outcome.verdict = finite ? Verdict::kFeasible : Verdict::kNotFinite;
  return outcome;
}

}  // namespace trainfront::search
