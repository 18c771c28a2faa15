#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/archive.hpp"

namespace trainfront::engine {

// What rank 0 knows of the whole sweep, and the checkpoint that keeps it.
class Ledger {
 public:
  struct Options {
    std::filesystem::path folder;  // for the checkpoint; empty: none is kept
    double every_s = 30;
    bool fresh = false;  // ignore a checkpoint that is there
  };

  // `begun`: problem, plans and blocks of the sweep. Goes on from a checkpoint of it. Throws what
  // load_checkpoint throws.
  Ledger(Snapshot begun, const Options& options);

  const Snapshot& state() const { return state_; }
  std::uint64_t resumed() const { return resumed_; }  // blocks that former runs did
  bool resumes() const { return state_.runs > 0; }
  bool complete() const { return state_.done.count() == state_.blocks; }
  double elapsed_s() const;  // of all runs
  std::uint64_t saves() const { return saves_; }
  double save_s() const { return save_s_; }                           // spent on them
  std::optional<std::int64_t> saved_at() const { return saved_at_; }  // seconds since 1970

  void add(const Report& news);
  // Seldom enough that saving takes at most 1 % of the time. A disk that is full now may not be at the next
  // try, nor at the end: that is said, and the sweep goes on.
  void save_if_due();
  // Throws MachineError.
  void save();

 private:
  using Clock = std::chrono::steady_clock;

  Snapshot state_;
  std::filesystem::path path_;  // empty: none
  double every_s_;
  std::uint64_t resumed_ = 0;
  std::uint64_t saves_ = 0;
  double elapsed_before_s_ = 0;
  double last_save_s_ = 0;
  double save_s_ = 0;
  std::optional<std::int64_t> saved_at_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

}  // namespace trainfront::engine
