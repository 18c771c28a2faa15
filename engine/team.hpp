#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "engine/archive.hpp"
#include "engine/block_ranges.hpp"
#include "search/front.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// Adds blocks [first, last) to a harvest, pruned by an incumbent: search::walk on one space. Called by many
// threads at once, on different harvests. Asks `give_up` now and then; false: it was given up, and the
// harvest is worth nothing.
using Walker = std::function<bool(std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                                  search::Harvest& harvest, const std::function<bool()>& give_up)>;

// The threads of one rank. Thread 0 works like the others and looks after the rest of the world (`tend`)
// between two pieces of work, and within one that takes long, so no thread is spent on it.
class Team {
 public:
  Team(int threads, Walker walker) : threads_(threads), walker_(std::move(walker)) {}

  // Works until tend returns false. Rethrows what a thread threw.
  void run(const std::function<bool()>& tend);

  // The rest is for tend.
  int threads() const { return threads_; }
  void add_work(BlockRange range);
  // No more of it is begun, and pieces that take long are given up.
  void drop_work();
  std::uint64_t waiting() const;  // blocks that nobody has begun
  bool idle() const;              // no work waits, none is being done, and all of it can be collected
  // What was finished and handed over since the last call.
  Report collect();
  // Points that others found; they prune from now on.
  void inform(const search::Front& front);
  std::shared_ptr<const search::Front> incumbent() const;

 private:
  struct Hand;

  void lead(Hand& hand, const std::function<bool()>& tend);
  void follow(Hand& hand);
  void finish();
  bool has_failed() const;
  bool work_once(Hand& hand, const std::function<bool()>* tend = nullptr);
  void throw_away(Hand& hand);
  void hand_over(Hand& hand);
  BlockRange take(Hand& hand);

  const int threads_;
  const Walker walker_;

  std::atomic<bool> dropped_ = false;
  std::condition_variable changed_;  // there is work again, or no more will come
  mutable std::mutex mutex_;         // guards all below
  BlockRanges work_;
  int busy_ = 0;  // threads with work or results of their own
  bool finished_ = false;
  Report outbox_;
  std::shared_ptr<const search::Front> incumbent_ = std::make_shared<const search::Front>();
  std::exception_ptr thrown_;
};

}  // namespace trainfront::engine
