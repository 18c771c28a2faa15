#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "faults/cycle_kernel.hpp"

// How far one run may lie from the mean, in the stages of cycle_kernel.hpp and, as there, by expressions that
// every path shares: all give the same bits. Only +, -, *, / and square roots.
//
// Cycles are renewals: over many of them the time of a run has the variance (cycles) Var(C - rho S), C a
// cycle's length, S its saved steps, rho = E C/E S (Asmussen, "Applied Probability and Queues", V.6). Here
//   C - rho S = sum over classes of (1 - rho w/T(c)) Y_c + restart + rho lost,
// Y_c the time at c stacks, w the share of steps that patches and saves leave, `lost` uniform in an interval.
namespace trainfront::faults {

// E (length)^2 of a cycle, less what follows it, in squared MTBFs of one unit. A state is reached through all
// those before it.
inline double up_squares(const CycleColumn& column) {
  double squares = 0;
  double before = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
    squares += column.class_squares[i] + 2 * column.class_stay[i] * before;
    before += column.class_passage[i];
  }
  return squares;
}

// The same of one column with one step model: E steps, E (length x steps) and E steps^2, were all of the
// cycle work: without patches and saves. A restart that it begins with is nearly the same in all cycles and
// leaves the variances as they are.
struct SpreadSums {
  double steps = 0;
  double up_steps = 0;
  double step_squares = 0;
};

inline SpreadSums spread_sums(const CycleColumn& column, const StepModel& step) {
  SpreadSums sums;
  double before = 0;
  double steps_before = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
    const double inverse = 1 / (step.fixed_s + column.class_stacks[i] * step.per_stack_s);
    const double stay = column.class_stay[i];
    const double squares = column.class_squares[i] * inverse;
    sums.steps += stay * inverse;
    sums.up_steps += squares + stay * (inverse * before + steps_before);
    sums.step_squares += inverse * (squares + 2 * stay * steps_before);
    before += column.class_passage[i];
    steps_before += column.class_passage[i] * inverse;
  }
  return sums;
}

// What neither the step model nor the number of steps changes.
struct SpreadRate {
  double squares = 0;  // up_squares()
  double saving = 0;   // share of the time up that saves take
  double lost = 0;     // by an end that loses work, mean and mean square, in mean steps of a cycle
  double lost_squares = 0;
  double restart_more = 0;  // s by which a restart is longer than a voluntary one
  // Restarts are longer where the quick checkpoint is destroyed, and more is lost then: a variance, in s^2,
  // and one per second of a mean cycle.
  double restart_variance = 0;
  double restart_lost = 0;
};

inline SpreadRate spread_rate(const CycleColumn& column, const CycleSums& c, const EnvironmentTerms& e) {
  const double quick = 1 - e.deep_share;
  const double s = std::sqrt(c.save_weight * e.save_s * e.failure_rate * quick);
  const double deep_s = std::sqrt(c.save_weight * e.deep_save_s * e.failure_rate * e.deep_share);
  SpreadRate rate;
  rate.squares = up_squares(column);
  rate.saving = 1 - (1 - s / 2) * (1 - deep_s / 2);
  const double deep_risk = c.at_risk * e.deep_share;
  // Of an interval of one level of checkpoints or the other, uniform.
  const double interval = c.at_risk * quick > 0 ? s * (1 - s / 2) / (c.at_risk * quick) : 0;
  const double deep_interval = deep_risk > 0 ? deep_s * (1 - deep_s / 2) / deep_risk : 0;
  rate.lost = (quick * interval + e.deep_share * deep_interval) / 2;
  rate.lost_squares = (quick * interval * interval + e.deep_share * deep_interval * deep_interval) / 3;
  rate.restart_more = e.restart_s - e.voluntary_s;
  const double longer_s = e.deep_share * e.deep_restart_s;
  rate.restart_variance = longer_s * quick * e.deep_restart_s;
  rate.restart_lost = 2 * longer_s * (deep_interval / 2 - rate.lost);
  return rate;
}

// Of the time of one run; the mean beside them is time_to_train()'s.
struct Moments {
  double least_s = 0;  // without any failure, saves included
  double variance = 0;
  double cycles = 0;
};

// NaN where the mean is infinite or nothing fails.
inline Moments moments(const CycleSums& c, const SpreadSums& q, const CycleRate& rate,
                       const SpreadRate& spread, double steps, double mean_s) {
  const double f = rate.failure_rate;
  const double gross = unpatched_steps(c, f);
  const double rho = mean_s / steps;
  const double beta = rho * (1 - spread.saving) * gross / c.work_rate;
  const double left = c.dwell - beta * q.steps;
  const double up = spread.squares + beta * (beta * q.step_squares - 2 * q.up_steps) - left * left;
  const double cycle_s = rho * gross / f;
  const double lost_s = cycle_s * spread.lost;
  const double lost_variance = cycle_s * cycle_s * spread.lost_squares - lost_s * lost_s;
  const double restart_variance = spread.restart_variance + cycle_s * spread.restart_lost;
  const double end_s = spread.restart_more + lost_s;
  const double losing = c.losing;
  const double variance = (up > 0 ? up / (f * f) : 0) +
                          losing * (lost_variance + restart_variance + (1 - losing) * end_s * end_s);
  Moments result;
  result.cycles = steps * f / (gross * rate.efficiency);
  result.variance = result.cycles * variance;
  const double least_s = steps * c.step_s / (1 - spread.saving);
  result.least_s = least_s < mean_s ? least_s : mean_s;
  return result;
}

// The quantile at `deviate`, that of the standard normal distribution, of a time whose excess over `least_s`
// is taken for gamma distributed (Wilson and Hilferty, PNAS 17, 1931). NaN if there is no excess.
inline double gamma_quantile(double mean_s, const Moments& m, double deviate) {
  const double excess = mean_s - m.least_s;
  const double a = m.variance / (9 * excess * excess);
  const double root = 1 - a + deviate * std::sqrt(a);
  const double positive = root > 0 ? root : 0;
  return m.least_s + excess * (positive * positive * positive);
}

// The time that a plan is compared by where it must hold with a probability: the quantile, or the mean where
// that is more (rare but long losses, and probabilities near a half). So bounds on the mean bound it too, to
// the last bit.
inline double time_to_hold(double mean_s, const Moments& m, double deviate) {
  const double quantile = gamma_quantile(mean_s, m, deviate);
  return ((quantile > mean_s) & (quantile < std::numeric_limits<double>::infinity())) ? quantile : mean_s;
}

// Without protection: failures before the first run without one are geometric; each takes a time that the
// run's length cuts off.
inline Moments moments_from_scratch(double units, const EnvironmentTerms& e, double step_s, double steps) {
  const double length_s = steps * step_s;
  const double rate = units * e.failure_rate;
  const double clean = std::exp(-rate * length_s);
  const double failing = -std::expm1(-rate * length_s);
  const double failures = failing / clean;
  const double cut = clean / failing;
  const double per_failure_s = 1 / rate - length_s * cut + e.restart_s;
  const double variance = 1 / (rate * rate) - length_s * length_s * cut / failing;
  Moments result;
  result.least_s = length_s;
  result.variance =
      failures * (variance > 0 ? variance : 0) + failures / clean * per_failure_s * per_failure_s;
  result.cycles = failures + 1;
  return result;
}

}  // namespace trainfront::faults
