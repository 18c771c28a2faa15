#include "engine/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/reports/readable.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

constexpr double kBarEvery_s = 0.2;
constexpr double kPlainEvery_s = 10;
constexpr int kBarWidth = 24;

}  // namespace

Progress::Progress(ProgressMode mode, const Course& course) : mode_(mode), course_(course) {
  if (mode_ == ProgressMode::kAuto) mode_ = is_terminal(2) ? ProgressMode::kBar : ProgressMode::kPlain;
  // A sweep that is over at once needs no plain lines.
  if (mode_ == ProgressMode::kPlain) next_ += std::chrono::seconds(2);
}

Progress::~Progress() {
  if (open_line_) std::fputc('\n', stderr);
}

void Progress::update(const search::Counts& counts, std::size_t front) {
  if (mode_ == ProgressMode::kNone || Clock::now() < next_) return;
  const bool bar = mode_ == ProgressMode::kBar;
  next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(bar ? kBarEvery_s : kPlainEvery_s));
  const std::string line = text(counts, front);
  if (!bar) return say(line);
  const auto full = static_cast<std::size_t>(std::lround(pace(counts).share * kBarWidth));
  std::string drawn(std::min<std::size_t>(full, kBarWidth), '#');
  drawn.resize(kBarWidth, '.');
  fmt::print(stderr, "\r\033[K[{}] {}", drawn, line);
  std::fflush(stderr);
  open_line_ = true;
}

void Progress::finish(const search::Counts& counts, std::size_t front) {
  if (mode_ == ProgressMode::kNone) return;
  if (open_line_) std::fputs("\r\033[K", stderr);
  open_line_ = false;
  say(text(counts, front));
}

Pace Progress::pace(const search::Counts& counts) const {
  return course_.pace(counts, std::chrono::duration<double>(Clock::now() - begin_).count());
}

std::string Progress::text(const search::Counts& counts, std::size_t front) const {
  const Pace now = pace(counts);
  const std::string line = fmt::format(
      "{:5.1f} % of {} plans covered, {} evaluated, {} pruned, {}/s, front {}", 100 * now.share,
      readable_count(static_cast<double>(now.plans)), readable_count(static_cast<double>(counts.evaluated)),
      readable_count(static_cast<double>(pruned(counts))), readable_count(now.plans_per_s), front);
  if (now.covered >= now.plans) {
    const std::string took =
        line + ", took " + readable_duration(std::chrono::duration<double>(Clock::now() - begin_).count());
    if (now.excluded == 0) return took;
    return fmt::format("{}; {} more are illegal everywhere", took,
                       readable_count(static_cast<double>(now.excluded)));
  }
  return now.to_go_s ? line + ", " + readable_duration(*now.to_go_s) + " to go" : line;
}

}  // namespace trainfront::engine
