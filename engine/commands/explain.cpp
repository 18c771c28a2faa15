#include "engine/commands/explain.hpp"

#include <fmt/core.h>

#include <charconv>

#include "costmodel/legality.hpp"
#include "engine/answer.hpp"
#include "engine/atomic_file.hpp"
#include "engine/broken_rule.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/narrow.hpp"
#include "engine/output_place.hpp"
#include "engine/reports/explanation.hpp"
#include "engine/reports/front_files.hpp"
#include "engine/reports/readable.hpp"
#include "engine/same_plan.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"
#include "faults/cycle_kernel.hpp"
#include "inputs/diagnostics.hpp"
#include "search/evaluate.hpp"

namespace trainfront::engine {
namespace {

std::uint64_t parse_id(const std::string& text, const search::Space& space) {
  std::uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc() || stop != end) {
    throw UsageError(
        fmt::format("--plan: {} found; an id as in front.csv is needed", inputs::in_quotes(text)));
  }
  if (space.size() == 0) throw UsageError("--plan: this sweep has no legal plan");
  if (id >= space.size()) {
    throw UsageError(fmt::format("--plan: {} found; the ids of this sweep end at {}", id, space.size() - 1));
  }
  return id;
}

// A plan that cannot run, with the reason in words.
int refuse(const ExplainOptions& options, const search::Space& space, const search::Plan& plan,
           const search::Outcome& outcome) {
  const search::Problem& problem = space.problem();
  const costmodel::Hardware& hardware = problem.hardware[static_cast<std::size_t>(plan.hardware)].hardware;
  std::string status = "not_finite";
  std::string reason = "failures come faster than progress: the training would never end";
  if (outcome.verdict == search::Verdict::kNotFinite && outcome.is_struck_too_often) {
    status = "struck_too_often";
    reason = fmt::format(
        "failures come every {:.2g} steps: what it takes to mask them is not known where they come more "
        "often "
        "than every {:g} steps",
        outcome.steps_per_failure, faults::kFewestStepsPerFailure);
  }
  if (outcome.verdict == search::Verdict::kIllegal) {
    status = costmodel::rule_name(outcome.rule);
    reason = costmodel::explain_rule(outcome.rule, problem.model, problem.recipe, plan.layout, hardware,
                                     plan.global_batch);
  } else if (outcome.verdict == search::Verdict::kOutOfMemory) {
    status = "out_of_memory";
    reason = fmt::format("it needs {} on the worst stage, {} are usable",
                         readable_bytes(outcome.memory_bytes), readable_bytes(outcome.memory_capacity_bytes));
  }
  say(fmt::format("plan {} ({} on {} {}) is not feasible: {}: {}", plan.index, readable_layout(plan.layout),
                  plan.gpus, hardware.device.id, status, reason));
  if (options.json) {
    JsonWriter json;
    json.begin_object().field("status", "infeasible").field("reason", status).field("explanation", reason);
    print(json.end_object().take());
  }
  return kNothingFeasible;
}

// `answer`: what the plan was chosen by; none if the user named it.
int explain(const ExplainOptions& options, const search::Space& space, std::uint64_t index,
            const std::string& id, const Answer* answer) {
  const search::Outcome outcome = search::evaluate(space, index);
  if (outcome.verdict != search::Verdict::kFeasible)
    return refuse(options, space, space.decode(index), outcome);
  Explanation explanation = explain_plan(space, index, !options.trace.empty());
  explanation.row.id = id;
  if (answer != nullptr) {
    explanation.status = answer->status_name();
    explanation.criterion = answer->criterion;
  }
  if (!options.trace.empty()) {
    if (explanation.events.empty()) throw MachineError("the step has too many events for a trace");
    write_file(options.trace, trace_json(explanation));
    say("trace written to " + options.trace);
  }
  print(options.json ? explanation_json(space, explanation) : explanation_text(space, explanation));
  return answer != nullptr ? answer->status() : kDone;
}

// No plan of a narrowed space works. Where it holds a single layout, its broken rule is told in full.
int explain_nothing(const ExplainOptions& options, const search::Space& space, const search::Harvest& harvest,
                    const search::Goal& goal, const Answer& answer) {
  if (space.size() == 1) return refuse(options, space, space.decode(0), search::evaluate(space, 0));
  say(why_no_plan(space, harvest, goal, answer));
  const std::optional<BrokenRule> broken = space.size() == 0 ? broken_rule(space.problem()) : std::nullopt;
  if (broken) say(broken->words);
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    write_answer(space, harvest, answer, json);
    if (broken) json.field("reason", costmodel::rule_name(broken->rule)).field("explanation", broken->words);
    json.begin_object("counts");
    write_counts(harvest.counts, harvest.front.points().size(), json);
    print(json.end_object().end_object().take());
  }
  return answer.status();
}

}  // namespace

int run_explain(const ExplainOptions& options, World& world) {
  const bool root = world.rank() == 0;
  world.together([&] {
    if (root && !options.trace.empty()) check_output_place(options.trace, "--trace");
    return true;
  });
  const LoadedSweep sweep = load_sweep(world, options.file, options.probability);
  const auto share_status = [&](const auto& work) {
    const int status = world.together([&] { return root ? work() : int{kDone}; });
    return std::stoi(world.broadcast(std::to_string(status)));
  };
  if (!options.plan.empty()) {
    return share_status([&] {
      return explain(options, sweep.space, parse_id(options.plan, sweep.space), options.plan, nullptr);
    });
  }

  LoadedSweep narrowed = world.together([&] {
    search::Problem problem = sweep.space.problem();
    problem.goal = wanted_goal(problem.goal, options.deadline, options.budget);
    if (!options.layout.empty()) problem = narrow(problem, options.layout);
    return LoadedSweep{search::Space(std::move(problem)), {}, sweep.fingerprint};
  });
  JobOptions job_options;
  job_options.threads = options.threads;
  job_options.progress = ProgressMode::kNone;
  const JobResult job = run_sweep_job(world, narrowed, false, job_options);
  if (!job.complete) {
    if (root) say("stopped; explain keeps no checkpoint, sweep does");
    return kResumable;
  }
  return share_status([&] {
    const search::Space& space = narrowed.space;
    const search::Goal& goal = space.problem().goal;
    const Answer answer = find_answer(job.harvest.front, goal);
    const std::optional<search::Point>& point = answer.plan ? answer.plan : answer.nearest;
    if (!point) return explain_nothing(options, space, job.harvest, goal, answer);
    if (!answer.plan) say(why_no_plan(space, job.harvest, goal, answer));
    const std::optional<std::uint64_t> id = index_in(sweep.space, space, space.decode(point->index));
    return explain(options, space, point->index, id ? std::to_string(*id) : "none: outside the sweep",
                   &answer);
  });
}

}  // namespace trainfront::engine
