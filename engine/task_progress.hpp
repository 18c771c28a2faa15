#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

namespace trainfront::engine {

// How many of equal tasks are done, on a line of a terminal's standard error that is drawn over and, in the
// end, wiped out; nothing elsewhere, and nothing of what takes less than a second.
class TaskProgress {
 public:
  TaskProgress(std::string what, std::size_t all, bool is_told);
  ~TaskProgress();
  TaskProgress(const TaskProgress&) = delete;
  TaskProgress& operator=(const TaskProgress&) = delete;

  // From any thread.
  void one_more();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::size_t all_;
  bool is_told_;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<Clock::time_point> next_;
  std::atomic<bool> has_line_ = false;
};

}  // namespace trainfront::engine
