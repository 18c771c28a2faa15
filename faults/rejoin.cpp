#include "faults/rejoin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"

namespace trainfront::faults {
namespace {

// E (B - s)^+ for Poisson B: mean - s + sum over b < s of (s - b) P(b).
double mean_excess(double mean, std::int64_t spares) {
  double excess = mean - static_cast<double>(spares);
  double term = std::exp(-mean);
  for (std::int64_t b = 0; b < spares; ++b) {
    excess += static_cast<double>(spares - b) * term;
    term *= mean / static_cast<double>(b + 1);
  }
  return std::max(0.0, excess);
}

}  // namespace

RejoiningTime rejoining_time(std::int64_t units, const StepModel& step, const Environment& environment,
                             const Rejoining& rejoining, double steps) {
  RejoiningTime result;
  result.time_s = std::numeric_limits<double>::infinity();
  if (units < 1 || !is_valid(environment) || !(rejoining.repair_s >= 0) || !(rejoining.rejoin_s >= 0))
    return result;
  const auto n = static_cast<double>(units);
  const double load = rejoining.repair_s / environment.group_mtbf_s;
  // The deficit lowers the failures that make it: the left side of d = excess((n - d) load) rises, the right
  // falls.
  double low = 0;
  double high = n;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (mean_excess((n - middle) * load, rejoining.idle_spares) > middle ? low : high) = middle;
  }
  result.deficit = 0.5 * (low + high);
  const double left = n - result.deficit;
  if (left < 1) return result;
  const double step_s = step.fixed_s + step.per_stack_s * n / left;
  const double rate = left / environment.group_mtbf_s;
  const double again_s = step_s + environment.detect_s + environment.reorder_s;
  const double hit = -std::expm1(-rate * step_s);
  const double mean_s = step_s + hit * (std::exp(rate * again_s) * again_s + rejoining.rejoin_s);
  const double time_s = steps * mean_s;
  if (time_s <= kMostSlowdown * steps * (step.fixed_s + step.per_stack_s)) result.time_s = time_s;
  return result;
}

}  // namespace trainfront::faults
