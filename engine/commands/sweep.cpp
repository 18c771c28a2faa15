#include "engine/commands/sweep.hpp"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "engine/atomic_file.hpp"
#include "engine/checkpoint.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/process.hpp"
#include "engine/reports/readable.hpp"
#include "engine/signals.hpp"
#include "engine/status.hpp"
#include "engine/status_reader.hpp"
#include "engine/sweep_job.hpp"
#include "engine/sweep_report.hpp"
#include "engine/terminal.hpp"
#include "engine/wall_clock.hpp"

namespace trainfront::engine {
namespace {

constexpr double kStatusEvery_s = 2;
constexpr int kBusyTries = 50;  // of 0.1 s
constexpr std::chrono::milliseconds kClaimWait{50};

// A folder into which a sweep writes already is not for another. One that was just killed may take a moment
// to go.
void refuse_busy_folder(const std::filesystem::path& folder, const std::string& host) {
  for (int wait = 0; std::filesystem::exists(folder / kStatusName); ++wait) {
    Observed seen;
    try {
      seen = observe(folder, utc_seconds(), host);
    } catch (const UsageError&) {
      return;  // another program's, or damaged: it is replaced
    }
    if (seen.state != Observed::State::kRunning) return;
    if (seen.host != host) {
      return say(
          fmt::format("warning: a sweep on {} wrote into {} {} ago; if it still runs, both do the same work",
                      seen.host, folder.string(), readable_duration(seen.age_s)));
    }
    if (wait == kBusyTries) {
      throw UsageError(
          fmt::format("a sweep is writing into {0} (process {1}). trainfront watch {0} shows it; "
                      "use -o for another folder.",
                      folder.string(), seen.pid));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Says in status.json that the folder is taken. Of several sweeps that find it free at the same moment the
// last to say so has it.
void claim(StatusFile& file, const std::filesystem::path& folder, const World& world) {
  file.status().pace.share = 0;
  if (!file.write()) return;
  std::this_thread::sleep_for(kClaimWait);
  const Observed seen = observe(folder, utc_seconds(), world.host());
  const bool is_other = seen.state == Observed::State::kRunning &&
                        (seen.host != world.host() || seen.pid != this_process().pid);
  if (!is_other) return;
  throw UsageError(
      fmt::format("another sweep (process {} on {}) began to write into {} at the same moment; use -o for "
                  "another folder.",
                  seen.pid, seen.host, folder.string()));
}

// Makes the folder ready and returns what keeps status.json in it.
StatusFile open_folder(const SweepOptions& options, const World& world, std::int64_t started_s) {
  const std::filesystem::path folder = options.folder;
  refuse_busy_folder(folder, world.host());
  make_writable_folder(folder);
  remove_half_written(folder);
  std::error_code error;
  std::filesystem::remove(folder / kFinishName, error);  // meant for a former run
  StatusFile file(folder, kStatusEvery_s);
  file.status().run = {options.file, world.host(), this_process(), world.size(), 0, 1, started_s};
  claim(file, folder, world);
  return file;
}

JobOptions job_options(const SweepOptions& options) {
  JobOptions wanted;
  wanted.threads = options.threads;
  wanted.progress = parse_progress(options.progress);
  wanted.folder = options.folder;
  wanted.fresh = options.fresh;
  wanted.only_resume = options.front_so_far;
  wanted.checkpoint_every_s = *parse_duration_option("--checkpoint-every", options.checkpoint_every);
  if (const auto limit_s = parse_duration_option("--time-limit", options.time_limit))
    wanted.time_limit_s = *limit_s;
  return wanted;
}

// Throws StoppedEarly once the sweep is to stop: while layouts are listed there is nothing to save yet.
void stop_early(const StopSignals& signals, const JobOptions& wanted) {
  StopCause cause;
  if (signals.raised() != 0) {
    cause = {StopCause::Kind::kSignal, signals.raised()};
  } else if (std::chrono::steady_clock::now() - wanted.begun >=
             std::chrono::duration<double>(wanted.time_limit_s)) {
    cause = {StopCause::Kind::kTimeLimit};
  } else {
    return;
  }
  throw StoppedEarly(
      fmt::format("stopped ({}) while layouts were listed: nothing was searched in this run, and nothing is "
                  "saved. Shorter lists in [layout] are listed sooner.",
                  name(cause)));
}

// Of a sweep that ended early. Throws MachineError if what is done is not saved.
void tell_how_it_stopped(const SweepReport& report, const SweepOptions& options, const JobResult& job) {
  std::string front = "nothing was found yet";
  if (job.done.count() > 0) {
    front = fmt::format("the front so far, {} plans, is in {}, marked as partial",
                        job.harvest.front.points().size(), report.place().string());
    try {
      report.write();
    } catch (const MachineError& error) {
      front = fmt::format("the front so far, {} plans, could not be written ({})",
                          job.harvest.front.points().size(), error.what());
    }
  }
  const std::string how = options.front_so_far ? std::string("searched no further")
                                               : fmt::format("stopped ({})", name(job.stopped_by));
  if (!job.not_saved.empty())
    throw MachineError(fmt::format("{}; {}. What is done could not be saved: {}", how, front, job.not_saved));
  say(fmt::format("{}; {}. {} in {} has what is done. Run the same command again to go on.", how, front,
                  kCheckpointName, options.folder));
}

// For those that watch: nothing more comes after this.
void end_status(StatusFile& file, const JobResult& job) {
  file.status().state = job.complete ? Status::State::kFinished : Status::State::kStopped;
  file.status().stopped_by = job.stopped_by;
  file.write();
}

}  // namespace

int run_sweep(const SweepOptions& options, World& world) {
  const auto begun = std::chrono::steady_clock::now();
  const StopSignals signals;  // one that comes while the files are read counts too
  const std::int64_t started_s = utc_seconds();
  const bool root = world.rank() == 0;
  JobOptions wanted = world.together([&] { return job_options(options); });
  wanted.begun = begun;
  const LoadedSweep sweep =
      load_sweep(world, options.file, options.probability, [&] { stop_early(signals, wanted); });
  const search::Goal goal = world.together(
      [&] { return wanted_goal(sweep.space.problem().goal, options.deadline, options.budget); });
  std::optional<StatusFile> status_file = world.together([&]() -> std::optional<StatusFile> {
    // Who only looks at what is saved must not disturb a sweep that runs.
    if (!root || options.front_so_far) return std::nullopt;
    return open_folder(options, world, started_s);
  });
  if (status_file) wanted.status = &*status_file;
  if (root) say_notes(sweep.notes);

  const JobResult job = run_sweep_job(world, sweep, options.brute_force, wanted);
  const int status = world.together([&] {
    if (!root) return int{kDone};
    const RunReport run{job.complete ? "done" : "stopped", options.file, utc_text(started_s),
                        options.brute_force, sweep.notes};
    const SweepReport report(options.folder, sweep, goal, job, run);
    report.show(options.json);  // first: a full disk must not take the answer along
    try {
      job.complete ? report.write() : tell_how_it_stopped(report, options, job);
    } catch (const MachineError&) {
      if (status_file && !job.complete) end_status(*status_file, job);
      throw;
    }
    if (job.complete && !options.json)
      print(fmt::format("Written to {0}: front.csv front.json run.json report.html\n", options.folder));
    if (status_file) end_status(*status_file, job);
    return report.status();
  });
  return std::stoi(world.broadcast(std::to_string(status)));
}

}  // namespace trainfront::engine
