#include "engine/job.hpp"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <thread>

#include "engine/errors.hpp"
#include "engine/ledger.hpp"
#include "engine/pace.hpp"
#include "engine/signals.hpp"
#include "engine/wall_clock.hpp"

namespace trainfront::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSaveTries = 3;
constexpr std::chrono::milliseconds kBetweenTries{500};

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// Rank 0's view of the whole sweep: what came in goes into the ledger, and from there to the screen, the
// checkpoint and status.json.
class Overview {
 public:
  Overview(const World& world, const JobWork& work, const JobOptions& options, int threads)
      : options_(options),
        threads_(threads),
        ledger_(begun(work), {options.folder, options.checkpoint_every_s, options.fresh}),
        course_{work.plans, work.excluded, ledger_.state().harvest.counts.plans},
        progress_(options.progress, course_) {
    if (options.only_resume && !ledger_.resumes())
      throw UsageError(fmt::format("nothing is saved in {}", options.folder.string()));
    if (options_.status == nullptr) return;
    Status::Run& run = options_.status->status().run;
    run.ranks = world.size();
    run.threads = threads;
    run.runs = ledger_.state().runs + 1;
    write_status();
  }

  Ledger& ledger() { return ledger_; }
  bool asked_to_finish() const { return asked_to_finish_; }

  void take(const Report& news) {
    const auto begin = Clock::now();
    look_after(news);
    bookkeeping_s_ += seconds_since(begin);
  }

  // All ranks are done. Returns why the state could not be saved, if it should have been.
  std::string end() {
    progress_.finish(harvest().counts, harvest().front.points().size());
    std::string not_saved = ledger_.complete() || options_.only_resume ? std::string() : save();
    if (options_.status != nullptr) write_status();
    return not_saved;
  }

  JobFacts facts(const World& world) const {
    JobFacts facts;
    facts.ranks = world.size();
    facts.threads = threads_;
    facts.hosts = world.hosts();
    facts.elapsed_s = seconds_since(begin_);
    facts.elapsed_all_s = ledger_.elapsed_s();
    facts.runs = ledger_.state().runs + 1;
    facts.blocks_resumed = ledger_.resumed();
    facts.excluded = course_.excluded;
    facts.checkpoints = ledger_.saves();
    facts.checkpoint_s = ledger_.save_s();
    facts.bookkeeping_s = bookkeeping_s_;
    if (options_.status != nullptr) facts.status_s = options_.status->spent_s();
    return facts;
  }

 private:
  static Snapshot begun(const JobWork& work) {
    Snapshot snapshot;
    snapshot.problem = work.problem;
    snapshot.plans = work.plans;
    snapshot.blocks = work.blocks;
    return snapshot;
  }

  void look_after(const Report& news) {
    ledger_.add(news);
    progress_.update(harvest().counts, harvest().front.points().size());
    if (!options_.only_resume) ledger_.save_if_due();
    if (options_.status == nullptr) return;
    if (options_.status->is_due()) write_status();
    std::error_code error;
    asked_to_finish_ = std::filesystem::exists(options_.folder / kFinishName, error);
  }

  // A disk that is full may have room a moment later.
  std::string save() {
    for (int tries = 1;; ++tries) {
      try {
        ledger_.save();
        return {};
      } catch (const MachineError& error) {
        if (tries < kSaveTries) {
          std::this_thread::sleep_for(kBetweenTries);
          continue;
        }
        return fmt::format(
            "{}; {}", error.what(),
            ledger_.saved_at()  ? fmt::format("the last checkpoint is of {}", utc_text(*ledger_.saved_at()))
            : ledger_.resumes() ? std::string("the checkpoint that this run went on from is left")
                                : std::string("there is no checkpoint"));
      }
    }
  }

  const search::Harvest& harvest() const { return ledger_.state().harvest; }

  void write_status() {
    Status& status = options_.status->status();
    status.pace = course_.pace(harvest().counts, seconds_since(begin_));
    status.counts = harvest().counts;
    const auto points = harvest().front.points();
    status.front = points.size();
    if (!points.empty()) {
      status.fastest = points.front();
      status.cheapest = points.back();
    }
    status.checkpoints = ledger_.saves();
    status.last_checkpoint_s = ledger_.saved_at();
    options_.status->write();
  }

  const JobOptions& options_;
  int threads_;
  Clock::time_point begin_ = Clock::now();
  Ledger ledger_;
  Course course_;
  Progress progress_;
  bool asked_to_finish_ = false;
  double bookkeeping_s_ = 0;
};

}  // namespace

JobResult run_job(World& world, const JobWork& work, const JobOptions& options) {
  const bool root = world.rank() == 0;
  const int threads = options.threads > 0 ? options.threads : world.fair_threads();

  const StopSignals signals;
  const std::unique_ptr<Overview> overview = world.together(
      [&] { return root ? std::make_unique<Overview>(world, work, options, threads) : nullptr; });

  Team team(threads, work.walker);
  Share share(world, team, root ? overview->ledger().state().done.complement(work.blocks) : BlockRanges(),
              options.share);
  if (root) {
    team.inform(overview->ledger().state().harvest.front);
    share.on_news = [&](const Report& news) { overview->take(news); };
    if (options.only_resume) share.stop({StopCause::Kind::kFinish});
  }
  const auto reason_to_stop = [&]() -> StopCause {
    if (signals.raised() != 0) return {StopCause::Kind::kSignal, signals.raised()};
    if (!root) return {};
    if (overview->asked_to_finish()) return {StopCause::Kind::kFinish};
    if (seconds_since(options.begun) >= options.time_limit_s) return {StopCause::Kind::kTimeLimit};
    return {};
  };
  team.run([&] {
    if (!share.stopped()) {
      const StopCause cause = reason_to_stop();
      if (cause.kind != StopCause::Kind::kNone) share.stop(cause);
    }
    return share.tend();
  });
  world.settle();

  JobResult result;
  result.stopped_by = share.stopped_by();
  if (root) {
    Ledger& ledger = overview->ledger();
    result.not_saved = overview->end();
    result.complete = ledger.complete();
    result.harvest = ledger.state().harvest;
    result.done = ledger.state().done;
    result.facts = overview->facts(world);
    result.keep = [kept = std::make_shared<Ledger>(std::move(ledger))] { kept->save(); };
  }
  result.complete = world.broadcast(result.complete ? "1" : "0") == "1";
  return result;
}

}  // namespace trainfront::engine
