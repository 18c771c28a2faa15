#include "engine/job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "engine/checkpoint.hpp"
#include "engine/errors.hpp"
#include "engine/fingerprint.hpp"
#include "engine/signals.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// What rank 0 knows of the whole sweep, and its file.
class Ledger {
 public:
  Ledger(const JobWork& work, const JobOptions& options)
      : every_s_(options.checkpoint_every_s), writes_(!options.folder.empty()) {
    state_.problem = work.problem;
    state_.plans = work.plans;
    state_.blocks = work.blocks;
    if (!writes_) return;
    path_ = options.folder / kCheckpointName;
    state_.program = program_fingerprint();
    if (options.fresh) return;
    if (std::optional<Snapshot> former = load_checkpoint(path_, state_)) {
      state_ = std::move(*former);
      resumed_ = state_.done.count();
    }
    elapsed_before_s_ = state_.elapsed_s;
  }

  const Snapshot& state() const { return state_; }
  std::uint64_t resumed() const { return resumed_; }
  bool complete() const { return state_.done.count() == state_.blocks; }

  void add(const Report& news) {
    state_.harvest.merge(news.harvest);
    state_.done.add(news.done);
  }

  // A disk that is full now may not be at the next try, nor at the end: the sweep goes on.
  void save_if_due() {
    if (!writes_ || seconds_since(saved_) < std::max(every_s_, 50 * last_save_s_)) return;
    try {
      save();
    } catch (const MachineError& error) {
      say(fmt::format("warning: {}; the sweep goes on without a new checkpoint", error.what()));
      saved_ = Clock::now();
    }
  }

  void save() {
    if (!writes_) return;
    const auto begin = Clock::now();
    Snapshot snapshot = state_;
    snapshot.elapsed_s = elapsed_s();
    ++snapshot.runs;
    save_checkpoint(path_, snapshot);
    saved_ = Clock::now();
    last_save_s_ = seconds_since(begin);
    save_s_ += last_save_s_;
    ++saves_;
  }

  JobFacts facts() const {
    JobFacts facts;
    facts.elapsed_s = seconds_since(begin_);
    facts.elapsed_all_s = elapsed_s();
    facts.runs = state_.runs + 1;
    facts.blocks_resumed = resumed_;
    facts.checkpoints = saves_;
    facts.checkpoint_s = save_s_;
    return facts;
  }

 private:
  double elapsed_s() const { return elapsed_before_s_ + seconds_since(begin_); }

  Snapshot state_;
  std::filesystem::path path_;
  double every_s_;
  bool writes_;
  std::uint64_t resumed_ = 0;
  std::uint64_t saves_ = 0;
  double elapsed_before_s_ = 0;
  double last_save_s_ = 0;
  double save_s_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

}  // namespace

JobResult run_job(World& world, const JobWork& work, const JobOptions& options) {
  const bool root = world.rank() == 0;
  const int threads = options.threads > 0 ? options.threads : world.fair_threads();

  const StopSignals signals;
  const std::optional<Ledger> opened = world.together([&]() -> std::optional<Ledger> {
    return root ? std::optional<Ledger>(Ledger(work, options)) : std::nullopt;
  });
  std::optional<Ledger> ledger = opened;

  Team team(threads, work.walker);
  Share share(world, team, root ? ledger->state().done.complement(work.blocks) : BlockRanges(),
              options.share);
  std::optional<Progress> progress;
  if (root) {
    progress.emplace(options.progress, work.plans, work.excluded, ledger->state().harvest.counts.plans);
    team.inform(ledger->state().harvest.front);
    share.on_news = [&](const Report& news) {
      ledger->add(news);
      const search::Harvest& harvest = ledger->state().harvest;
      progress->update(harvest.counts, harvest.front.points().size());
      ledger->save_if_due();
    };
  }
  team.run([&] {
    if (signals.raised() != 0 && !share.stopped()) share.stop();
    return share.tend();
  });
  world.settle();

  JobResult result;
  result.signal = signals.raised();
  if (root) {
    result.complete = ledger->complete();
    result.harvest = ledger->state().harvest;
    result.done = ledger->state().done;
    progress->finish(result.harvest.counts, result.harvest.front.points().size());
    if (!result.complete) ledger->save();
    result.facts = ledger->facts();
    result.facts.ranks = world.size();
    result.facts.threads = threads;
    result.facts.hosts = world.hosts();
    result.keep = [kept = std::make_shared<Ledger>(std::move(*ledger))] { kept->save(); };
  }
  result.complete = world.broadcast(result.complete ? "1" : "0") == "1";
  return result;
}

}  // namespace trainfront::engine
