#include "engine/redundancy_sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "costmodel/framework_profile.hpp"
#include "costmodel/step_time.hpp"
#include "engine/answer.hpp"
#include "engine/errors.hpp"
#include "engine/reports/readable.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"
#include "search/environment.hpp"
#include "search/evaluate.hpp"

namespace trainfront::engine {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;

std::uint64_t plan_number(const std::string& text, const search::Space& space) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= space.size()) {
    throw UsageError(
        fmt::format("--plan \"{}\": needs an id as in front.csv, from 0 to {}", text, space.size() - 1));
  }
  if (search::evaluate(space, number).verdict == search::Verdict::kFeasible) return number;
  throw UsageError(fmt::format("--plan {}: this plan is not feasible; trainfront explain says why", text));
}

}  // namespace

PlanSystem system_of_plan(const search::Space& space, std::uint64_t index) {
  const search::Problem& problem = space.problem();
  const search::Plan plan = space.decode(index);
  const search::HardwareClass& rented = problem.hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Hardware& hardware = rented.hardware;
  const costmodel::Offer& offer = rented.offers[static_cast<std::size_t>(plan.offer)];
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);
  const auto cost = costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware,
                                           costmodel::default_profile(plan.layout.framework));
  const auto step = costmodel::step_time(cost, plan.layout.dp, plan.global_batch, plan.islands);
  const faults::FailingUnit unit =
      faults::failing_unit(plan.layout.dp, plan.layout.group_gpus(), hardware.gpus_per_node);

  PlanSystem result;
  faults::Simulation& system = result.system;
  system.units = unit.units;
  system.law = problem.failures.law;
  system.step = {step.fixed_s, step.per_stack_s};
  const search::NodeFailures node = search::node_failures(problem.failures, rented, offer);
  faults::Protection shared = plan.protection;
  shared.tier = faults::CheckpointTier::kShared;
  system.environment = search::recovery_costs(problem.failures, shared, nodes,
                                              search::checkpoint_bytes(problem.model, problem.recipe));
  system.environment.group_mtbf_s = search::unit_mtbf_s(node.events_per_s(), unit);
  const double steps = search::steps_needed(problem.recipe, plan.global_batch);
  system.steps = std::clamp<std::int64_t>(std::llround(steps), 1, kMostSteps);

  result.plan = fmt::format("plan {}: {} on {} {}, {} failing units of {} groups", plan.index,
                            readable_layout(plan.layout), plan.gpus, hardware.device.id, unit.units,
                            unit.groups_per_unit);
  if (plan.protection.tier != faults::CheckpointTier::kShared)
    result.notes.push_back("checkpoints are compared on the shared file system alone");
  if (node.preemptions_per_s > 0 && node.preempted_together > 1)
    result.notes.push_back(
        "a preemption that takes several nodes counts as the loss of one unit here; the sweep counts them "
        "all");
  const std::int64_t copies =
      faults::state_copies(unit, plan.layout.dp, search::groups_per_state_copy(plan.layout));
  if (copies > 1) {
    system.state_copies = copies;
  } else {
    result.notes.push_back(
        "this plan's layout keeps one copy of the optimiser's state over all groups, so that no failure "
        "can be masked on it; replication and SPARe are shown for a layout with its step whose units "
        "each hold all of it");
  }
  return result;
}

PlanSystem system_of_sweep(const RedundancyOptions& options, World& world) {
  const LoadedSweep sweep = load_sweep(world, options.file);
  if (!options.plan.empty()) {
    return world.together(
        [&] { return system_of_plan(sweep.space, plan_number(options.plan, sweep.space)); });
  }
  JobOptions job_options;
  job_options.threads = options.threads;
  job_options.progress = ProgressMode::kNone;
  const JobResult job = run_sweep_job(world, sweep, false, job_options);
  PlanSystem result;
  result.status = kResumable;
  if (!job.complete) {
    if (world.rank() == 0) say("stopped; redundancy keeps no checkpoint, sweep does");
    return result;
  }
  std::string chosen;
  const search::Goal& goal = sweep.space.problem().goal;
  Answer answer;
  if (world.rank() == 0) {
    answer = find_answer(job.harvest.front, goal);
    const std::optional<search::Point>& point = answer.plan ? answer.plan : answer.nearest;
    if (!answer.plan) say(why_no_plan(sweep.space, job.harvest, goal, answer));
    if (point) chosen = std::to_string(point->index);
  }
  chosen = world.broadcast(chosen);
  if (!chosen.empty())
    result = world.together([&] { return system_of_plan(sweep.space, std::stoull(chosen)); });
  // Rank 0 ends the command for all and alone writes what follows.
  result.status = answer.status();
  result.status_name = answer.status_name();
  result.criterion = answer.criterion;
  return result;
}

}  // namespace trainfront::engine
