#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "engine/pace.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

enum class ProgressMode { kAuto, kBar, kPlain, kNone };

// How far a sweep is, on standard error: one line that is drawn over on a terminal, else a line now and then.
class Progress {
 public:
  // The counts that update() gets lack the course's excluded plans. kAuto: a bar on a terminal, plain lines
  // elsewhere.
  Progress(ProgressMode mode, const Course& course);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const search::Counts& counts, std::size_t front);
  // Ends the line, so that messages start on their own.
  void finish(const search::Counts& counts, std::size_t front);

 private:
  using Clock = std::chrono::steady_clock;
  Pace pace(const search::Counts& counts) const;
  std::string text(const search::Counts& counts, std::size_t front) const;

  ProgressMode mode_;
  const Course course_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = Clock::now();
  bool open_line_ = false;
};

}  // namespace trainfront::engine
