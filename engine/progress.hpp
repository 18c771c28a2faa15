#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "search/walk.hpp"

namespace trainfront::engine {

enum class ProgressMode { kAuto, kBar, kPlain, kNone };

// How far a sweep is, on standard error: one line that is drawn over on a terminal, else a line now and then.
class Progress {
 public:
  // `plans` to walk, of which former runs did `covered`. Beside them `excluded` ones count as covered from
  // the start; the counts that update() gets lack them. kAuto: a bar on a terminal, plain lines elsewhere.
  Progress(ProgressMode mode, std::uint64_t plans, std::uint64_t excluded, std::uint64_t covered);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const search::Counts& counts, std::size_t front);
  // Ends the line, so that messages start on their own.
  void finish(const search::Counts& counts, std::size_t front);

 private:
  using Clock = std::chrono::steady_clock;
  std::string text(const search::Counts& counts, std::size_t front) const;

  ProgressMode mode_;
  std::uint64_t plans_;  // with the excluded ones
  std::uint64_t excluded_;
  std::uint64_t covered_before_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = Clock::now();
  bool open_line_ = false;
};

}  // namespace trainfront::engine
