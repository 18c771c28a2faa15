#pragma once

#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"

// A run starts with all of its units, while stacks, and the end of a cycle with its restart, come late in a
// cycle: a run of few cycles has less of them than the mean over long runs, time_to_train(). In the stages of
// cycle_kernel.hpp and, as there, by expressions that every path shares. Derived in docs/failures.md.
namespace trainfront::faults {

// Of one column with one step model.
struct LateSums {
  double at_work = 0;        // D less the restart in it
  double mean_step_s = 0;    // over the time at work,
  double first = 0;          // the share of that which the stacks of the first loss add,
  double more = 0;           // and that of all beyond
  double first_lag = 0;      // of a first cycle; in many the loss comes `settled` late
  double first_inverse = 0;  // of first_lag
  double settled = 0;
};

// `stack_share`: what a stack more adds, over T(1) = `one_stack_s`.
inline LateSums late_sums(const LateCosts& late, const CycleSums& c, double stack_share, double one_stack_s) {
  LateSums sums;
  sums.at_work = late.at_work;
  sums.mean_step_s = late.at_work / c.work_rate;
  const double speed = c.work_rate * late.at_work_inverse;
  const double rise = (late.first_stacks - 1) * stack_share;
  // Share of the work that comes after the first loss, if all of it goes on as then.
  const double after = late.others / (1 + rise + late.others);
  const double all = 1 - c.step_s * speed;
  const double excess = all > 0 ? all : 0;
  const double by_first = rise * one_stack_s * after * speed;
  sums.first = by_first < excess ? by_first : excess;
  sums.more = excess - sums.first;
  // A first cycle's work before the loss over that after it; no lag is said to be more than a cycle.
  const double inverse = late.others / (1 + rise);
  sums.first_inverse = inverse > 1 ? inverse : 1;
  sums.first_lag = 1 / sums.first_inverse;
  const double settled = late.settled * after * (1 - after);
  sums.settled = settled < sums.first_lag ? settled : sums.first_lag;
  return sums;
}

inline LateSums late_sums(const CycleColumn& column, const CycleSums& c, const StepModel& step) {
  const double one_stack_s = step.fixed_s + step.per_stack_s;
  return late_sums(column.late, c, step.per_stack_s / one_stack_s, one_stack_s);
}

namespace late {

// e^exponent; from 60 on merely much.
inline double power(double exponent) {
  constexpr double kMost = 300;
  const double u = (exponent < kMost ? exponent : kMost) * (1.0 / 16);
  const double p = 1 + u * (1 + 0.5 * u);
  const double p_2 = p * p;
  const double p_4 = p_2 * p_2;
  const double p_8 = p_4 * p_4;
  return p_8 * p_8;
}

inline double sharpened(double y, double sharp) {
  return y * (1 + sharp * (y * (0.5 + y * (1.0 / 3))));
}

inline double share(double value) {
  const double positive = value > 0 ? value : 0;
  return positive < 1 ? positive : 1;
}

}  // namespace late

// Shares that a run of so many cycles is spared of what the mean over long runs has.
struct Spared {
  double stacks = 0;  // of the time at work, patches included
  double ends = 0;    // of restarts
  double saves = 0;   // of saves and lost work: at the best interval they go with the root of the ends
};

inline Spared spared(const LateSums& s, const LateCosts& late, double cycles) {
  const double settling = late::power(2 * cycles);
  const double first = late::power(cycles * s.first_inverse);
  const double further = late::power(late::sharpened(cycles * late.further.inverse, late.further.sharp));
  const double ends = late::power(late::sharpened(cycles * late.ends.inverse, late.ends.sharp));
  // Their reciprocals, and that of the cycles, by one division.
  const double two = settling * first;
  const double others = further * ends;
  const double all = 1 / (two * others * cycles);
  const double per_cycle = all * (two * others);
  const double one = all * cycles;
  const double settling_left = one * others * first;
  const double first_left = one * others * settling;
  const double further_left = one * two * ends;
  const double ends_left = one * two * further;
  const double first_lag = s.settled + (s.first_lag - s.settled) * settling_left;
  const double of_first = late::share(first_lag * (1 - first_left) * per_cycle);
  const double of_more = late::share(late.further.cycles * (1 - further_left) * per_cycle);
  Spared result;
  result.stacks = s.first * of_first + s.more * of_more;
  result.ends = late::share(late.ends.cycles * (1 - ends_left) * per_cycle);
  result.saves = 1 - std::sqrt(1 - result.ends);
  return result;
}

// Of everything above the work, what is left at least in a run of at least so many cycles (docs/search.md).
inline double least_left(double cycles) {
  if (!(cycles > 1e-3)) return 0;
  const double left = 1 - (1 - 1 / late::power(late::sharpened(cycles, 1))) / cycles;
  return left > 1e-9 ? left - 1e-9 : 0;
}

// One run, in the mean.
struct RunParts {
  double time_s = 0;  // infinity: no progress, in the mean over long runs
  // Of that mean:
  double cycles = 0;
  double restarts_s = 0;  // all that comes between cycles
  double saving_s = 0;    // saves and lost work
  Spared spared;
};

inline RunParts run_parts(const CycleSums& c, const LateSums& s, const LateCosts& late, const CycleRate& rate,
                          double steps) {
  const double f = rate.failure_rate;
  const LongRunMean mean = long_run_mean(c, rate, steps);
  const double rounds = steps * mean.per_step;  // cycles over f
  RunParts run;
  run.cycles = rounds * f;
  run.restarts_s = rounds * (rate.cycle - s.at_work);
  run.saving_s = (rounds * mean.unpatched - steps) * s.mean_step_s;
  run.spared = spared(s, late, run.cycles);
  const double at_work_s = mean.time_s - run.restarts_s - run.saving_s;
  const double time = mean.time_s - (at_work_s * run.spared.stacks + run.restarts_s * run.spared.ends +
                                     run.saving_s * run.spared.saves);
  const double with_failures = mean.progress ? time : std::numeric_limits<double>::infinity();
  run.time_s = f > 0 ? with_failures : steps * c.step_s;
  return run;
}

}  // namespace trainfront::faults
