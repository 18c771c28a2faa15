#include "engine/commands/plan.hpp"

#include <fmt/core.h>

#include <span>
#include <vector>

#include "engine/answer.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/near_best.hpp"
#include "engine/reports/front_files.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/reports/readable.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

void write_near_best(const search::Space& space, std::span<const search::Neighbour> neighbours,
                     JsonWriter& json) {
  json.begin_array("near_best");
  for (const search::Neighbour& neighbour : neighbours) {
    json.begin_object().field("worse_by", neighbour.worse_by);
    write_row(plan_row(space, neighbour.point.index), json);
    json.end_object();
  }
  json.end_array();
}

std::string near_best_text(const search::Space& space, const search::Point& best,
                           std::span<const search::Neighbour> neighbours, double within) {
  const std::string share = readable_percent(within);
  if (neighbours.empty())
    return fmt::format("no plan of another device or shape (tp, cp, pp, ep) comes within {}\n", share);
  std::vector<PlanRow> rows = {plan_row(space, best.index)};
  for (const search::Neighbour& neighbour : neighbours)
    rows.push_back(plan_row(space, neighbour.point.index));
  return fmt::format("\nthe best of other devices and shapes (tp, cp, pp, ep) within {}:\n{}", share,
                     front_text(rows, best.index, rows.size()));
}

void show(const PlanOptions& options, const search::Space& space, const search::Goal& goal,
          const JobResult& job, const Answer& answer) {
  const std::string failure = why_no_plan(space, job.harvest, goal, answer);
  if (!failure.empty()) say(failure);
  std::vector<search::Neighbour> neighbours;
  if (answer.plan && options.near_best > 0) {
    neighbours = find_near_best(space, search::vicinity(space, *answer.plan, goal, options.within),
                                static_cast<std::size_t>(options.near_best), job.facts.threads);
  }
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    write_answer(space, job.harvest, answer, json);
    if (answer.plan && options.near_best > 0) write_near_best(space, neighbours, json);
    json.begin_object("counts");
    write_counts(job.harvest.counts, job.harvest.front.points().size(), json);
    print(json.end_object().end_object().take());
  } else if (answer.plan) {
    print(fmt::format("{}:\n{}", answer.criterion, plan_text(space, plan_row(space, answer.plan->index))));
    if (options.near_best > 0) print(near_best_text(space, *answer.plan, neighbours, options.within));
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
