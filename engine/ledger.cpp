#include "engine/ledger.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/checkpoint.hpp"
#include "engine/errors.hpp"
#include "engine/fingerprint.hpp"
#include "engine/terminal.hpp"
#include "engine/wall_clock.hpp"

namespace trainfront::engine {
namespace {

constexpr double kMostOfTime = 0.01;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

Ledger::Ledger(Snapshot begun, const Options& options) : state_(std::move(begun)), every_s_(options.every_s) {
  if (options.folder.empty()) return;
  path_ = options.folder / kCheckpointName;
  state_.program = program_fingerprint();
  if (options.fresh) return;
  if (std::optional<Snapshot> former = load_checkpoint(path_, state_)) {
    state_ = std::move(*former);
    resumed_ = state_.done.count();
  }
  elapsed_before_s_ = state_.elapsed_s;
}

double Ledger::elapsed_s() const {
  return elapsed_before_s_ + seconds_since(begin_);
}

void Ledger::add(const Report& news) {
  state_.harvest.merge(news.harvest);
  state_.done.add(news.done);
}

void Ledger::save_if_due() {
  if (path_.empty() || seconds_since(saved_) < std::max(every_s_, last_save_s_ / kMostOfTime)) return;
  try {
    save();
  } catch (const MachineError& error) {
    say(fmt::format("warning: {}; the sweep goes on without a new checkpoint", error.what()));
    saved_ = Clock::now();
  }
}

void Ledger::save() {
  if (path_.empty()) return;
  const auto begin = Clock::now();
  Snapshot snapshot = state_;
  snapshot.elapsed_s = elapsed_s();
  ++snapshot.runs;
  save_checkpoint(path_, snapshot);
  saved_ = Clock::now();
  saved_at_ = utc_seconds();
  last_save_s_ = seconds_since(begin);
  save_s_ += last_save_s_;
  ++saves_;
}

}  // namespace trainfront::engine
