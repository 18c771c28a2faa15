#include "search/plan_run.hpp"

#include "costmodel/framework_profile.hpp"
#include "costmodel/step_time.hpp"
#include "search/environment.hpp"

namespace trainfront::search {

PlanRun plan_run(const Problem& problem, const Plan& plan) {
  const HardwareClass& rented = problem.hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Hardware& hardware = rented.hardware;
  const costmodel::Offer& offer = rented.offers[static_cast<std::size_t>(plan.offer)];
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);

  const auto cost = costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware,
                                           costmodel::default_profile(plan.layout.framework));
  const auto step = costmodel::step_time(cost, plan.layout.dp, plan.global_batch, plan.islands);
  PlanRun run;
  run.unit =
      failing_unit(plan.protection, nodes, plan.layout.dp, plan.layout.group_gpus(), hardware.gpus_per_node);
  if (faults::masks_failures(plan.protection))
    run.state_copies = faults::state_copies(run.unit, plan.layout.dp, groups_per_state_copy(plan.layout));
  run.step = {step.fixed_s, step.per_stack_s};
  run.steps = steps_needed(problem.recipe, plan.global_batch);
  const faults::Environment costs = recovery_costs(problem.failures, plan.protection, nodes,
                                                   checkpoint_bytes(problem.model, problem.recipe));
  const NodeFailures node = node_failures(problem.failures, rented, offer);
  run.environment = environment_in(problem.failures, plan.protection, costs, node, run.unit, nodes);
  run.law = law_in(problem.failures, run.environment, node);
  run.table = faults::cycle_table(run.unit.units, plan.protection, run.law, run.state_copies);
  run.evidence = step.evidence;
  return run;
}

}  // namespace trainfront::search
