#include <algorithm>
#include <cmath>
#include <limits>

#include "search/unit_kernel.hpp"

// What can be said of all steps at once: lower bounds on time, and who makes progress. Proofs in
// docs/search.md.
namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Slowdowns this far from the limit are on their side of it however the kernel rounds.
constexpr double kSurelyBelow = 0.999 * faults::kMostSlowdown;
constexpr double kSurelyAbove = 1.001 * faults::kMostSlowdown;

}  // namespace

void UnitKernel::least_factors(double stack_share, std::vector<double>& of_cell) {
  set_step({1.0 - stack_share, stack_share}, 1.0);
  std::fill(lost_steps_.begin(), lost_steps_.end(), 0.0);
  std::fill(stop_steps_.begin(), stop_steps_.end(), 0.0);
  of_cell.clear();
  for (std::size_t rate = 0; rate < rates_.size(); ++rate) {
    run(rate);
    for (const Segment& segment : segments_) {
      const double least = least_of(times_.data() + segment.first, segment.last - segment.first);
      // A slowdown at the limit counts as progress or not by its last bit.
      of_cell.push_back(segment.first == segment.last ? kNever : std::min(least, kSurelyBelow));
    }
  }
}

double UnitKernel::work_from_scratch(std::size_t rate, std::size_t spare, double time_s) const {
  const Segment& segment = segments_[spare];
  double most = 0;
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j) {
    const faults::EnvironmentTerms& e = rates_[rate].from_scratch[segment.first_scratch + j];
    // time = (1/a + T_r)(e^(a work) - 1), solved for the work.
    const double a = nodes_ * e.failure_rate;
    most = std::max(most, a > 0 ? std::log1p(a * time_s / (1.0 + a * e.restart_s)) / a : time_s);
  }
  return most;
}

double UnitKernel::most_step_s(const Rate& rate, std::size_t j) const {
  if (!rate.fails) return kNever;
  if (!std::isfinite(rate.cycle[j])) return -kNever;
  const faults::CycleColumn& column = *sources_[j];
  double work = 0;      // at least, of a cycle, in steps of T(c_0) per MTBF
  double failures = 0;  // masked
  for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
    work += column.class_dwell[i] * column.class_stacks[0] / column.class_stacks[i];
    failures += column.class_failures[i];
  }
  failures = std::max(failures, column.masked);
  const double stops = failures * rate.failure_rate[j] * rate.masked_s[j];
  const double patch = failures * rate.failure_rate[j] * (columns_.patch_stacks[j] + columns_.patch_steps[j]);
  const double spare_work = work - stops - rate.cycle[j] / (kSurelyBelow * rate.efficiency[j]);
  if (patch > 0) return std::max(0.0, spare_work / (patch * column.class_stacks[0]));
  if (spare_work > 0) return kNever;
  const bool surely_endless =
      column.classes == 1 && work - stops - rate.cycle[j] / (kSurelyAbove * rate.efficiency[j]) < 0;
  return surely_endless ? -kNever : 0.0;
}

Certainty UnitKernel::certainty(std::size_t rate_class, std::size_t spare) const {
  const Rate& rate = rates_[rate_class];
  const Segment& segment = segments_[spare];
  Certainty certainty{.most_step_s = kNever, .most_work_s = kNever, .least_work_s = 0};
  for (std::size_t j = segment.first; j < segment.last;) {
    const int protection = columns_.protection[j];
    double most = -kNever;  // of the choices of k_max one suffices
    for (; j < segment.last && columns_.protection[j] == protection; ++j)
      most = std::max(most, most_step_s(rate, j));
    if (most < 0) {
      ++certainty.endless;
    } else {
      certainty.most_step_s = std::min(certainty.most_step_s, most);
    }
  }
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j) {
    const faults::EnvironmentTerms& e = rate.from_scratch[segment.first_scratch + j];
    const double a = nodes_ * e.failure_rate;
    if (!(a > 0)) continue;
    // (1 + a T_r)(e^x - 1)/x grows with x = a work: bisect for where it passes the limit.
    const auto slowdown = [&](double x) { return (1.0 + a * e.restart_s) * std::expm1(x) / x; };
    double below = 1e-12;
    double above = 64;  // e^64/64 is beyond any limit
    if (slowdown(below) >= kSurelyBelow) below = 0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (below + above);
      (slowdown(middle) < faults::kMostSlowdown ? below : above) = middle;
    }
    certainty.most_work_s = std::min(certainty.most_work_s, below / a * (1 - 1e-6));
    certainty.least_work_s = std::max(certainty.least_work_s, above / a * (1 + 1e-6));
    ++certainty.endless_from_scratch;
  }
  return certainty;
}

}  // namespace trainfront::search
