#include "engine/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "engine/reports/readable.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

constexpr double kBarEvery_s = 0.2;
constexpr double kPlainEvery_s = 10;
constexpr int kBarWidth = 24;

std::uint64_t sum(const auto& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

Progress::Progress(ProgressMode mode, std::uint64_t plans, std::uint64_t excluded, std::uint64_t covered)
    : mode_(mode), plans_(plans + excluded), excluded_(excluded), covered_before_(covered + excluded) {
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
  const double share =
      plans_ == 0 ? 1 : static_cast<double>(counts.plans + excluded_) / static_cast<double>(plans_);
  const auto full = static_cast<std::size_t>(std::lround(share * kBarWidth));
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

std::string Progress::text(const search::Counts& counts, std::size_t front) const {
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto covered = static_cast<double>(counts.plans + excluded_);
  const double rate = (covered - static_cast<double>(covered_before_)) / std::max(elapsed_s, 1e-9);
  std::string line = fmt::format(
      "{:5.1f} % of {} plans covered, {} evaluated, {} pruned, {}/s, front {}",
      plans_ == 0 ? 100.0 : 100 * covered / static_cast<double>(plans_),
      readable_count(static_cast<double>(plans_)), readable_count(static_cast<double>(counts.evaluated)),
      readable_count(static_cast<double>(sum(counts.pruned))), readable_count(rate), front);
  if (counts.plans + excluded_ >= plans_) return line + ", took " + readable_duration(elapsed_s);
  if (rate <= 0) return line;
  return line + ", " + readable_duration((static_cast<double>(plans_) - covered) / rate) + " to go";
}

}  // namespace trainfront::engine
