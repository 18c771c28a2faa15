#include "engine/commands/plan.hpp"

#include <fmt/core.h>

#include "engine/answer.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/reports/front_files.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

void show(const PlanOptions& options, const search::Space& space, const search::Goal& goal,
          const JobResult& job, const Answer& answer) {
  const std::string failure = why_no_plan(space, job.harvest, goal, answer);
  if (!failure.empty()) say(failure);
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    write_answer(space, job.harvest, answer, json);
    json.begin_object("counts");
    write_counts(job.harvest.counts, job.harvest.front.points().size(), json);
    print(json.end_object().end_object().take());
  } else if (answer.plan) {
    print(fmt::format("{}:\n{}", answer.criterion, plan_text(space, plan_row(space, answer.plan->index))));
  }
}

}  // namespace

int run_plan(const PlanOptions& options, World& world) {
  JobOptions job_options;
  job_options.threads = options.threads;
  job_options.progress = world.together([&] { return parse_progress(options.progress); });
  const LoadedSweep sweep = load_sweep(world, options.file, options.probability);
  const search::Goal goal = world.together(
      [&] { return wanted_goal(sweep.space.problem().goal, options.deadline, options.budget); });
  if (world.rank() == 0) say_notes(sweep.notes);
  const JobResult job = run_sweep_job(world, sweep, options.brute_force, job_options);
  if (!job.complete) {
    if (world.rank() == 0) say("stopped; plan keeps no checkpoint, sweep does");
    return kResumable;
  }
  const int status = world.together([&] {
    if (world.rank() != 0) return int{kDone};
    const Answer answer = find_answer(job.harvest.front, goal);
    show(options, sweep.space, goal, job, answer);
    return answer.status();
  });
  return std::stoi(world.broadcast(std::to_string(status)));
}

}  // namespace trainfront::engine
