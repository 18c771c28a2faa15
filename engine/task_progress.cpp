#include "engine/task_progress.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "engine/terminal.hpp"

namespace trainfront::engine {

TaskProgress::TaskProgress(std::string what, std::size_t all, bool is_told)
    : what_{std::move(what)},
      all_{all},
      is_told_{is_told && is_terminal(2)},
      next_{Clock::now() + std::chrono::seconds(1)} {}

TaskProgress::~TaskProgress() {
  if (has_line_) std::fputs("\r\x1b[K", stderr);
}

void TaskProgress::one_more() {
  const std::size_t done = ++done_;
  if (!is_told_) return;
  const Clock::time_point now = Clock::now();
  Clock::time_point due = next_;
  // One thread alone draws the line.
  if (now < due || !next_.compare_exchange_strong(due, now + std::chrono::milliseconds(200))) return;
  has_line_ = true;
  fmt::print(stderr, "\r{} of {} {}\x1b[K", done, all_, what_);
  std::fflush(stderr);
}

}  // namespace trainfront::engine
