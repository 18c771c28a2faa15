#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "faults/cycle.hpp"

// Time-to-train in three stages, for the search's inner loop: a CycleColumn per (N, protection), CycleSums
// per step model (tens of ns), and time_to_train() per environment (two divisions, no branches: loops over
// plans vectorise). Every path goes through these very expressions, so that all give the same bits.
namespace trainfront::faults {

// Goodput below a thousandth is called no progress: the time is infinite, not a huge number.
inline constexpr double kMostSlowdown = 1000;

// What one failure rate needs to know of an environment.
struct EnvironmentTerms {
  double failure_rate = 0;  // of one unit, 1/s
  double restart_s = 0;     // after work was lost
  double voluntary_s = 0;   // save, and restart without detection
  double save_s = 0;
  double masked_s = 0;  // stop for a masked failure besides its patch
  double deep_save_s = 0;
  double deep_share = 0;
  double deep_restart_s = 0;  // of restart_s its share is in it
};

inline EnvironmentTerms environment_terms(const Environment& environment) {
  EnvironmentTerms terms;
  terms.failure_rate = 1 / environment.group_mtbf_s;
  terms.restart_s = environment.restart_s + environment.deep_share * environment.deep_restart_s;
  terms.voluntary_s = environment.save_s + environment.restart_s + environment.reorder_s;
  terms.save_s = environment.save_s;
  terms.masked_s = environment.detect_s + environment.reorder_s;
  terms.deep_save_s = environment.deep_save_s;
  terms.deep_share = environment.deep_share;
  terms.deep_restart_s = environment.deep_restart_s;
  return terms;
}

// What a cycle that ends with a voluntary restart adds, with the chance `leaving`: in a step of `seconds` a
// failure that leads to T(c) = `end_s`.
struct CycleEnd {
  double leaving = 0;
  double repeats = 0;        // 1 where patches can be hit
  double whole_patch_s = 0;  // with the stop for detection, which the first has in its restart
  double last_patch_s = 0;   // these three: CycleSums
  double last_again_s = 0;
  double half_step = 0;
};

inline CycleEnd cycle_end(double leaving, double patch_stacks, double patch_steps, double per_stack_s,
                          double seconds, double end_s, double masked_s) {
  const double patch_s = patch_stacks * per_stack_s + patch_steps * end_s;
  CycleEnd end;
  end.leaving = leaving;
  end.repeats = patch_stacks + patch_steps > 0 ? 1 : 0;
  end.whole_patch_s = patch_s + masked_s;
  end.last_patch_s = leaving * (patch_s + 0.5 * seconds);
  end.last_again_s = leaving * end.repeats * end.whole_patch_s;
  end.half_step = 0.5 * leaving;
  return end;
}

// One column with one step model.
struct CycleSums {
  double dwell = 0;
  double dwell_inverse = 0;
  double losing = 0;
  double at_risk = 0;  // chance that a cycle's end finds work to lose: U, less where restarts fail
  double leaving = 0;  // chance that it ends with a voluntary restart after the first, where that can fail
  double save_weight = 0;  // 2 at_risk / (D less the restart in it)
  Efficiency efficiency{};
  double work_rate = 0;    // R: steps per MTBF in a cycle, sum of W_c/T(c)
  double patch_steps = 0;  // Q: steps lost to patches in a cycle where each failure has its own
  double shared = 0;       // these six: PatchQuotient
  double shared_twice = 0;
  double patch_rate = 0;
  double again = 0;
  double again_twice = 0;
  double most_shared = std::numeric_limits<double>::infinity();
  // A voluntary restart waits for the step that the failure fell into: half of it, in the mean, is left.
  double last_patch_s = 0;  // that half and its patch, times their chance,
  double last_again_s = 0;  // and so much for each further patch
  double left_share = 0;    // work of the half step, over R
  double step_s = 0;        // of the full system
  bool restarts_fail = false;
};

// The part of them that no step changes.
inline void set_cycle(CycleSums& sums, const CycleTable& table, const CycleColumn& column) {
  sums.dwell = column.dwell;
  sums.dwell_inverse = 1 / column.dwell;
  sums.losing = column.losing;
  sums.at_risk = column.losing * column.starts;
  sums.leaving = (1 - column.losing) * column.starts;
  sums.save_weight = 2 * sums.at_risk / (column.dwell - column.restart_dwell);
  sums.efficiency = column.efficiency;
  sums.restarts_fail = table.restarts_fail;
}

// `masked_s`: a masked failure stops for so long besides its patch of `patch_stacks` stacks and `patch_steps`
// steps at T(c), c being what it leads to. Where c rises, the step in progress, in the mean half done, still
// ends at the speed before.
inline CycleSums cycle_sums(const CycleTable& table, const CycleColumn& column, const StepModel& step,
                            double masked_s) {
  const auto classes = static_cast<std::size_t>(column.classes);
  const double stop_s = table.patch_stacks * step.per_stack_s + masked_s;
  CycleSums sums;
  set_cycle(sums, table, column);
  SharedPatches patches;
  double gained = 0;
  double before_s = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    const double seconds = step.fixed_s + column.class_stacks[i] * step.per_stack_s;
    const double inverse = 1 / seconds;
    const double patch_s = stop_s + table.patch_steps * seconds;
    sums.work_rate += column.class_dwell[i] * inverse;
    patches.add(column.class_failures[i], column.class_crowding[i], seconds, inverse, patch_s);
    if (i == 0) {
      sums.step_s = seconds;
    } else {
      // Never more than the failure's own patch costs: longer MTBFs must not make a plan slower.
      const double half_step = 0.5 * (1 - before_s * inverse);
      const double patch = patch_s * inverse;
      gained += column.class_entered[i] * (half_step < patch ? half_step : patch);
    }
    before_s = seconds;
  }
  const double end_s = step.fixed_s + column.end_stacks * step.per_stack_s;
  const CycleEnd end = cycle_end(sums.leaving, table.patch_stacks, table.patch_steps, step.per_stack_s,
                                 before_s, end_s, masked_s);
  patches.add_last(end.leaving, column.last_crowding, before_s, end.whole_patch_s);
  const PatchQuotient quotient = patch_quotient(patches, table.patches, end.repeats);
  sums.patch_steps = patches.lost - gained;
  sums.shared = quotient.shared;
  sums.shared_twice = quotient.shared_twice;
  sums.patch_rate = quotient.patch;
  sums.again = quotient.again;
  sums.again_twice = quotient.again_twice;
  sums.most_shared = quotient.most;
  sums.last_patch_s = end.last_patch_s;
  sums.last_again_s = end.last_again_s;
  sums.left_share = end.half_step / sums.work_rate;
  return sums;
}

// What neither the step model nor the number of steps changes: one column in one environment.
struct CycleRate {
  double failure_rate = 0;
  double efficiency = 1;  // g: what checkpoints and lost work leave (efficiency.hpp), s = sqrt(2 U T_s f/D)
  double interval = 0;    // best between two checkpoints, were steps divisible: times R - Q f, in steps
  double losing = 0;      // at_risk f g/2; of two levels, the quick one's: (1 - q) of it
  double cycle = 0;       // D + down f: mean length of a cycle, in MTBFs of one unit
  bool progress = true;
};

// What deep checkpoints leave, s = sqrt(2 U q T_deep f/D). They lose work once in 1/(U q) cycles: with few of
// them lost like one exponential failure, with all of them as the cycle says.
inline double deep_efficiency(const CycleSums& c, const EnvironmentTerms& e, double s) {
  Efficiency mixed;
  for (std::size_t i = 0; i < mixed.size(); ++i)
    mixed[i] = e.deep_share * c.efficiency[i] + (1 - e.deep_share) * kExponentialFailure[i];
  return efficiency(mixed, s);
}

// Of two levels the quick one loses work in the share 1 - q of the cycles that lose any, the deep one in q:
// each has its own best interval, and what they leave multiplies.
//
// Of `c` it uses what set_cycle() sets.
inline CycleRate cycle_rate(const CycleSums& c, const EnvironmentTerms& e) {
  const double f = e.failure_rate;
  const double quick = 1 - e.deep_share;
  const double s = std::sqrt(c.save_weight * e.save_s * f * quick);
  const double deep_s = std::sqrt(c.save_weight * e.deep_save_s * f * e.deep_share);
  const double restart = e.voluntary_s + c.losing * (e.restart_s - e.voluntary_s);
  // Where restarts can fail the cycle's states count them (all but a voluntary one's save).
  const double down = c.restarts_fail ? c.leaving * e.save_s : restart;
  CycleRate rate;
  rate.failure_rate = f;
  const double kept = efficiency(c.efficiency, s);
  const double losing = c.at_risk * quick;
  rate.interval = losing * f > 0 ? (1 - kept) / (losing * f) : 0;
  rate.efficiency = kept * deep_efficiency(c, e, deep_s);
  rate.losing = 0.5 * losing * f * rate.efficiency;
  rate.cycle = c.dwell * (1 + down * f * c.dwell_inverse);
  rate.progress = (s < kSlowestSave) & (deep_s < kSlowestSave);
  return rate;
}

// What patches take at the failure rate f.
struct Patching {
  double steps = 0;  // per MTBF in a cycle
  double more = 0;   // patches, beside the first, that a step which is hit takes
};

inline Patching patching(const CycleSums& c, double f) {
  const double dense = f < c.most_shared ? f : c.most_shared;
  Patching result;
  // Never fewer than none, as the fits have it for short patches where failures seldom follow each other.
  const double more = dense * (c.again + dense * c.again_twice);
  result.more = more > 0 ? more : 0;
  const double repeated = 1 + result.more;
  result.steps = c.patch_steps * dense * repeated /
                 (1 + dense * (c.shared + dense * c.shared_twice) + dense * c.patch_rate * repeated);
  return result;
}

// Steps per MTBF in a cycle, less those that patches take.
inline double unpatched_steps(const CycleSums& c, double f, const Patching& patches) {
  return (c.work_rate - patches.steps) * (1 + f * c.left_share);
}
inline double unpatched_steps(const CycleSums& c, double f) {
  return unpatched_steps(c, f, patching(c, f));
}

// Mean length of a cycle, in MTBFs of one unit.
inline double cycle_length(const CycleSums& c, const CycleRate& rate, const Patching& patches) {
  return rate.cycle + rate.failure_rate * (c.last_patch_s + c.last_again_s * patches.more);
}

// Steps between checkpoints, at least one: of the neighbours of the ideal number n_c the one with the least
// (n - n_c)^2/n, which changes from n to n + 1 where n_c^2 = n (n + 1). Beyond 2^51 any number near n_c,
// which makes no difference.
inline double best_whole(double ideal) {
  constexpr double kRounder = 6755399441055744.0;  // 1.5 x 2^52: its neighbours are whole numbers
  const double nearest = (ideal + kRounder) - kRounder;
  const double whole = ideal * ideal > nearest * (nearest + 1) ? nearest + 1 : nearest;
  return whole > 1 ? whole : 1;
}

// Checkpoints are written between steps. With K = (R - Q f)/f steps in a cycle a whole number n of them costs
// x = U (n - n_c)^2/(2 K n) more than the best interval n_c, that is all that is lost where n_c is near 0 and
// a checkpoint follows each step. As in (e^2x - 1)/2x, failures being exponential.
struct WholeSteps {
  double number = 1;   // n
  double inverse = 0;  // 1/(n (R - Q f) g)
  double longer = 1;   // 1 + x + ..., never less than 1
};

inline WholeSteps whole_steps(double unpatched, const CycleRate& rate) {
  const double ideal = unpatched * rate.interval;
  WholeSteps whole;
  whole.number = best_whole(ideal);
  whole.inverse = 1 / (unpatched * rate.efficiency * whole.number);
  const double off = ideal - whole.number;
  const double x = off * off * rate.losing * whole.inverse;
  whole.longer = 1 + x * (1 + x * (2.0 / 3 + x * (1.0 / 3)));
  return whole;
}

// Seconds for `steps` steps: steps (D + down f)/((R - Q f) g), f the failure rate of one unit, down the
// restart or voluntary restart at the end of a cycle, Q f less where failures share a step, and longer where
// checkpoints wait for a step's end. Falls when f falls, rises with restart, save and stop times. Infinity:
// no progress. Of `c` it uses what follows `efficiency`. The mean over long runs; of one run:
// late_kernel.hpp.
struct LongRunMean {
  double time_s = 0;     // infinity: no progress
  double per_step = 0;   // cycles over f
  double unpatched = 0;  // unpatched_steps()
  bool progress = true;
};

inline LongRunMean long_run_mean(const CycleSums& c, const CycleRate& rate, double steps) {
  const double f = rate.failure_rate;
  const Patching patches = patching(c, f);
  const double cycle = cycle_length(c, rate, patches);
  const double unpatched = unpatched_steps(c, f, patches);
  const WholeSteps whole = whole_steps(unpatched, rate);
  LongRunMean mean;
  mean.per_step = (whole.number * whole.inverse) * whole.longer;
  mean.unpatched = unpatched;
  mean.time_s = steps * cycle * mean.per_step;
  mean.progress = rate.progress & (unpatched > 0) & (mean.time_s <= kMostSlowdown * (steps * c.step_s));
  return mean;
}

inline double time_to_train(const CycleSums& c, const CycleRate& rate, double steps) {
  const LongRunMean mean = long_run_mean(c, rate, steps);
  const double with_failures = mean.progress ? mean.time_s : std::numeric_limits<double>::infinity();
  return rate.failure_rate > 0 ? with_failures : steps * c.step_s;
}

// What a masked failure costs is known where steps are not struck over and over: with fewer steps than this
// (of one stack) between two failures of the whole system, no plan that masks them is said to make progress.
inline constexpr double kFewestStepsPerFailure = 2;

inline bool is_struck_too_often(double units, double failure_rate, const StepModel& step) {
  return units * failure_rate * ((step.fixed_s + step.per_stack_s) * kFewestStepsPerFailure) > 1;
}

inline double time_to_train(const CycleSums& c, const EnvironmentTerms& e, double steps) {
  return time_to_train(c, cycle_rate(c, e), steps);
}

// Without protection: (1/a + T_r)(e^(aT) - 1), a = N f, T the time without failures (Daly 2006 with one
// segment).
inline double time_to_train_from_scratch(double units, const EnvironmentTerms& e, double step_s,
                                         double steps) {
  const double without = steps * step_s;
  const double rate = units * e.failure_rate;
  if (!(rate > 0)) return without;
  const double time = (1 / rate + e.restart_s) * std::expm1(rate * without);
  return time <= kMostSlowdown * without ? time : std::numeric_limits<double>::infinity();
}

}  // namespace trainfront::faults
