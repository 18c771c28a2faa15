#include "engine/redundancy_sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/answer.hpp"
#include "engine/errors.hpp"
#include "engine/reports/readable.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"
#include "search/evaluate.hpp"
#include "search/plan_run.hpp"

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
  search::Plan plan = space.decode(index);
  const faults::Protection own = plan.protection;
  // Whole groups are lost, as where failures are masked. Its spares and its tier of checkpoints stay.
  faults::Protection masking{faults::Scheme::kElastic};
  masking.spares = plan.protection.spares;
  masking.spares_per_1000 = plan.protection.spares_per_1000;
  masking.tier = plan.protection.tier;
  masking.rejoins = own.scheme == faults::Scheme::kElastic && own.rejoins;
  plan.protection = masking;
  const search::PlanRun run = search::plan_run(space.problem(), plan);

  PlanSystem result;
  faults::Simulation& system = result.system;
  system.units = run.unit.units;
  system.law = run.law;
  system.step = run.step;
  system.environment = run.environment;
  system.steps = std::clamp<std::int64_t>(std::llround(run.steps), 1, kMostSteps);

  if (own.scheme == faults::Scheme::kSpare) {
    system.protection.sub_shards = own.sub_shards;
    system.protection.k_max = search::evaluate(space, index).k_max;
    if (system.protection.k_max > 0)
      result.notes.push_back(
          fmt::format("SPARe restarts voluntarily after {} lost group{}, whatever its r, as in the plan "
                      "(--k-max for another)",
                      system.protection.k_max, system.protection.k_max > 1 ? "s" : ""));
  }

  if (own.scheme == faults::Scheme::kElastic) {
    result.elastic = own;
    result.elastic->k_max = search::evaluate(space, index).k_max;
  }

  const search::HardwareClass& rented = space.problem().hardware[static_cast<std::size_t>(plan.hardware)];
  result.plan = fmt::format("plan {}: {} on {} {}, {} failing units of {} groups", plan.index,
                            readable_layout(plan.layout), plan.gpus, rented.hardware.device.id,
                            run.unit.units, run.unit.groups_per_unit);
  if (system.law.burst_share > 0)
    result.notes.push_back(fmt::format(
        "{} of the failures are preemptions that take {:.3g} nodes in the mean, each in a unit of its own; "
        "they count once",
        readable_percent(system.law.burst_share), system.law.burst_units));
  if (run.state_copies > 1) {
    system.state_copies = run.state_copies;
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
