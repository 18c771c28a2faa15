#include "engine/commands/sweep.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "engine/answer.hpp"
#include "engine/atomic_file.hpp"
#include "engine/checkpoint.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/reports/front_files.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/reports/html.hpp"
#include "engine/reports/readable.hpp"
#include "engine/reports/run_json.hpp"
#include "engine/signals.hpp"
#include "engine/sweep_job.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

constexpr std::size_t kRowsOnTerminal = 30;

// What rank 0 makes of a finished search.
class SweepReport {
 public:
  SweepReport(const SweepOptions& options, const LoadedSweep& sweep, const search::Goal& goal,
              const JobResult& job, RunReport run)
      : options_(options),
        space_(sweep.space),
        job_(job),
        run_(std::move(run)),
        rows_(plan_rows(space_, job.harvest.front)),
        answer_(find_answer(job.harvest.front, goal)),
        failure_(why_no_plan(space_, job.harvest, goal, answer_)) {}

  int status() const { return answer_.status(); }

  // What a search has found must not be lost with the files that do not fit on a disk.
  void write() const {
    try {
      write_all();
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("{}\n{}", error.what(), keep()));
    }
  }

  void show() const {
    if (!failure_.empty()) say(failure_);
    if (options_.json) return print(json());
    const std::optional<std::uint64_t> marked =
        answer_.plan ? std::optional<std::uint64_t>(answer_.plan->index) : std::nullopt;
    if (!rows_.empty()) print(front_text(rows_, marked, kRowsOnTerminal) + "\n");
    if (marked)
      print(fmt::format("* {}:\n{}\n", answer_.criterion, plan_text(space_, plan_row(space_, *marked))));
  }

  void show_folder() const {
    if (options_.json) return;
    print(fmt::format("Written to {0}: front.csv front.json run.json report.html\n", options_.folder));
  }

 private:
  std::string keep() const {
    const std::string file = (std::filesystem::path(options_.folder) / kCheckpointName).string();
    try {
      job_.keep();
    } catch (const MachineError& error) {
      return fmt::format("The finished search could not be kept either ({}).", error.what());
    }
    return fmt::format("The finished search is kept in {}: make room and run the same command again.", file);
  }

  void write_all() const {
    const std::filesystem::path folder = options_.folder;
    write_files({{folder / "front.csv", front_csv(rows_)},
                 {folder / "front.json", front_json(space_, job_.harvest.counts, rows_)},
                 {folder / "report.html", report_html(space_, job_.harvest, rows_, answer_, failure_)},
                 {folder / "run.json", run_json(run_, job_)}});
    std::error_code error;  // one that stays is read by a rerun, which then has nothing to search
    std::filesystem::remove(folder / kCheckpointName, error);
  }

  std::string json() const {
    JsonWriter json;
    json.begin_object();
    write_answer(space_, job_.harvest, answer_, json);
    json.begin_object("counts");
    write_counts(job_.harvest.counts, rows_.size(), json);
    json.end_object().field("folder", options_.folder).begin_array("front");
    for (const PlanRow& row : rows_) {
      json.begin_object();
      write_row(row, json);
      json.end_object();
    }
    return json.end_array().end_object().take();
  }

  const SweepOptions& options_;
  const search::Space& space_;
  const JobResult& job_;
  const RunReport run_;
  const std::vector<PlanRow> rows_;
  const Answer answer_;
  const std::string failure_;
};

std::string stopped_json(const SweepOptions& options, const JobResult& job) {
  JsonWriter json;
  json.begin_object().field("status", "stopped").field("folder", options.folder);
  json.field("covered", job.harvest.counts.plans).field("front", job.harvest.front.points().size());
  return json.end_object().take();
}

}  // namespace

int run_sweep(const SweepOptions& options, World& world) {
  const StopSignals signals;  // one that comes while the files are read counts too
  const std::string started = utc_now();
  const bool root = world.rank() == 0;
  JobOptions job_options = world.together([&] {
    JobOptions wanted;
    wanted.threads = options.threads;
    wanted.progress = parse_progress(options.progress);
    wanted.folder = options.folder;
    wanted.fresh = options.fresh;
    wanted.checkpoint_every_s = *parse_duration_option("--checkpoint-every", options.checkpoint_every);
    return wanted;
  });
  const LoadedSweep sweep = load_sweep(world, options.file, options.probability);
  const search::Goal goal = world.together(
      [&] { return wanted_goal(sweep.space.problem().goal, options.deadline, options.budget); });
  world.together([&] {
    if (root) make_writable_folder(options.folder);
    return true;
  });
  if (root) {
    for (const std::string& note : sweep.notes) say("note: " + note);
  }

  const JobResult job = run_sweep_job(world, sweep, options.brute_force, job_options);
  if (!job.complete) {
    if (root) {
      say(fmt::format("stopped; {} is saved in {}. Run the same command again to go on.", kCheckpointName,
                      options.folder));
      if (options.json) print(stopped_json(options, job));
    }
    return kResumable;
  }
  const int status = world.together([&] {
    if (!root) return int{kDone};
    const RunReport run{"done", options.file, started, options.brute_force, sweep.notes};
    const SweepReport report(options, sweep, goal, job, run);
    report.show();  // first: a full disk must not take the answer along
    report.write();
    report.show_folder();
    return report.status();
  });
  return std::stoi(world.broadcast(std::to_string(status)));
}

}  // namespace trainfront::engine
