#include "engine/team.hpp"

#include <omp.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace trainfront::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// A piece should be long against the cost of taking it and short against the wait of those that need an
// answer.
constexpr double kShortPiece_s = 1e-3;
constexpr double kLongPiece_s = 4e-3;
// Whoever asks for a stop waits no longer for what is begun; most pieces are done by then.
constexpr double kLongestWait_s = 0.2;
// Results are handed over this often, or as seldom as keeps the handing over below 2 % of the time.
constexpr double kHandOver_s = 0.02;
constexpr double kHandOverShare = 0.02;
constexpr std::chrono::microseconds kShortestNap{20};
constexpr std::chrono::microseconds kLongestNap{1000};

double seconds_since(Clock::time_point then) {
  return Seconds(Clock::now() - then).count();
}

}  // namespace

// What one thread has in hand.
struct Team::Hand {
  Report report;
  std::shared_ptr<const search::Front> incumbent;
  std::uint64_t piece = 1;  // blocks
  bool busy = false;
  Clock::time_point handed_over = Clock::now();
  double hand_over_s = 0;  // what the last one took
};

void Team::run(const std::function<bool()>& tend) {
#pragma omp parallel num_threads(threads_)
  {
    Hand hand;
    hand.incumbent = incumbent();
    const bool leads = omp_get_thread_num() == 0;
    try {
      leads ? lead(hand, tend) : follow(hand);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
    if (leads) finish();
  }
  if (thrown_) std::rethrow_exception(thrown_);
}

// The world outside cannot wake it: while there is no work it looks for messages after ever longer naps.
void Team::lead(Hand& hand, const std::function<bool()>& tend) {
  std::chrono::microseconds nap = kShortestNap;
  for (;;) {
    const bool worked = work_once(hand, &tend);
    if (!tend() || has_failed()) return;
    if (worked) {
      nap = kShortestNap;
    } else {
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, kLongestNap);
    }
  }
}

void Team::follow(Hand& hand) {
  for (;;) {
    const bool worked = work_once(hand);
    std::unique_lock lock(mutex_);
    if (!worked) changed_.wait(lock, [&] { return !work_.empty() || finished_; });
    if (finished_) return;
  }
}

void Team::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

bool Team::has_failed() const {
  const std::lock_guard lock(mutex_);
  return thrown_ != nullptr;
}

bool Team::work_once(Hand& hand, const std::function<bool()>* tend) {
  const BlockRange piece = take(hand);
  if (piece.count() == 0) {
    if (hand.busy) hand_over(hand);
    return false;
  }
  hand.busy = true;
  const auto begin = Clock::now();
  auto tended = begin;
  const auto give_up = [&] {
    if (tend != nullptr && seconds_since(tended) > kLongPiece_s) {
      (*tend)();
      tended = Clock::now();
    }
    return dropped_.load(std::memory_order_relaxed) && seconds_since(begin) > kLongestWait_s;
  };
  if (!walker_(piece.first, piece.last, *hand.incumbent, hand.report.harvest, give_up)) {
    throw_away(hand);
    return true;
  }
  const double took_s = seconds_since(begin);
  hand.report.done.add(piece);
  if (took_s < kShortPiece_s) hand.piece = std::min<std::uint64_t>(hand.piece * 2, std::uint64_t{1} << 40);
  if (took_s > kLongPiece_s) hand.piece = std::max<std::uint64_t>(hand.piece / 2, 1);
  if (seconds_since(hand.handed_over) > std::max(kHandOver_s, hand.hand_over_s / kHandOverShare))
    hand_over(hand);
  return true;
}

BlockRange Team::take(Hand& hand) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t fair = work_.count() / (2 * static_cast<std::uint64_t>(threads_));
  const BlockRange piece = work_.take(std::max<std::uint64_t>(1, std::min(hand.piece, fair)));
  if (piece.count() > 0 && !hand.busy) ++busy_;
  hand.incumbent = incumbent_;
  return piece;
}

void Team::hand_over(Hand& hand) {
  const auto begin = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    outbox_.merge(hand.report);
    if (!hand.report.harvest.front.empty()) {
      auto merged = std::make_shared<search::Front>(*incumbent_);
      merged->merge(hand.report.harvest.front);
      incumbent_ = std::move(merged);
    }
    --busy_;
  }
  hand.busy = false;
  hand.report = {};
  hand.handed_over = Clock::now();
  hand.hand_over_s = seconds_since(begin);
}

// All that has not been handed over, of which the harvest holds a part of no known blocks.
void Team::throw_away(Hand& hand) {
  const std::lock_guard lock(mutex_);
  hand.report = {};
  hand.busy = false;
  --busy_;
}

void Team::add_work(BlockRange range) {
  const std::lock_guard lock(mutex_);
  work_.add(range);
  changed_.notify_all();
}

void Team::drop_work() {
  const std::lock_guard lock(mutex_);
  work_.clear();
  dropped_ = true;
}

std::uint64_t Team::waiting() const {
  const std::lock_guard lock(mutex_);
  return work_.count();
}

bool Team::idle() const {
  const std::lock_guard lock(mutex_);
  return work_.empty() && busy_ == 0;
}

Report Team::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outbox_, {});
}

void Team::inform(const search::Front& front) {
  const std::lock_guard lock(mutex_);
  auto merged = std::make_shared<search::Front>(*incumbent_);
  merged->merge(front);
  incumbent_ = std::move(merged);
}

std::shared_ptr<const search::Front> Team::incumbent() const {
  const std::lock_guard lock(mutex_);
  return incumbent_;
}

}  // namespace trainfront::engine
