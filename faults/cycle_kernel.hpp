#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "faults/cycle.hpp"

// Time-to-train in three stages, for the search's inner loop: a CycleColumn per (N, protection), CycleSums
// per step model (tens of ns), and time_to_train() per environment (one square root, one division, no
// branches: loops over environments vectorise). Every path goes through these very expressions, so that all
// give the same bits.
namespace trainfront::faults {

// Goodput below a thousandth is called no progress: the time is infinite, not a huge number.
inline constexpr double kMostSlowdown = 1000;

// Restarts that fail too: longer than so many mean cycles is called no progress.
inline constexpr double kLongestRestart = 3;

// What one failure rate needs to know of an environment.
struct EnvironmentTerms {
  double failure_rate = 0;  // of one unit, 1/s
  double restart_s = 0;     // after work was lost
  double voluntary_s = 0;   // save, and restart without detection
  double save_s = 0;
  double masked_s = 0;  // stop for a masked failure besides its patch
};

inline EnvironmentTerms environment_terms(const Environment& environment) {
  EnvironmentTerms terms;
  terms.failure_rate = 1 / environment.group_mtbf_s;
  terms.restart_s = environment.restart_s;
  terms.voluntary_s = environment.save_s + environment.restart_s + environment.reorder_s;
  terms.save_s = environment.save_s;
  terms.masked_s = environment.detect_s + environment.reorder_s;
  return terms;
}

// One column with one step model.
struct CycleSums {
  double dwell = 0;
  double dwell_inverse = 0;
  double losing = 0;
  double save_weight = 0;  // 2 U / D
  Efficiency efficiency{};
  std::array<double, 4> restart_growth{};
  double work_rate = 0;     // R: steps per MTBF in a cycle, sum of W_c/T(c)
  double patch_steps = 0;   // Q: steps lost to patches in a cycle
  double stop_steps = 0;    // more of them, per second that a masked failure stops the training
  double last_patch_s = 0;  // of the step that a voluntary restart waits for, times its chance
  double step_s = 0;        // of the full system
};

// Steps lost to patches: a failure that leads to c stacks stops for a patch of `patch_stacks` more stacks and
// `patch_steps` steps at T(c). Where c rises, the step in progress, in the mean half done, still ends at the
// speed before.
inline CycleSums cycle_sums(const CycleTable& table, const CycleColumn& column, const StepModel& step) {
  double inverse[kStackClasses];
  double seconds[kStackClasses];
  const auto classes = static_cast<std::size_t>(column.classes);
  for (std::size_t i = 0; i < classes; ++i) {
    seconds[i] = step.fixed_s + column.class_stacks[i] * step.per_stack_s;
    inverse[i] = 1 / seconds[i];
  }
  CycleSums sums;
  double gained = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    sums.work_rate += column.class_dwell[i] * inverse[i];
    sums.stop_steps += column.class_failures[i] * inverse[i];
  }
  const double patch_s = table.patch_stacks * step.per_stack_s;
  for (std::size_t i = 1; i < classes; ++i) {
    // Never more than the failure's own patch costs: longer MTBFs must not make a plan slower.
    const double half_step = 0.5 * (1 - seconds[i - 1] * inverse[i]);
    const double patch = patch_s * inverse[i] + table.patch_steps;
    gained += column.class_entered[i] * (half_step < patch ? half_step : patch);
  }
  sums.patch_steps = patch_s * sums.stop_steps + table.patch_steps * column.masked - gained;
  const std::size_t last = classes - 1;
  sums.last_patch_s = (1 - column.losing) * (patch_s + table.patch_steps * seconds[last]);
  sums.dwell = column.dwell;
  sums.dwell_inverse = 1 / column.dwell;
  sums.losing = column.losing;
  sums.save_weight = 2 * column.losing * sums.dwell_inverse;
  sums.efficiency = column.efficiency;
  sums.restart_growth = column.restart_growth;
  sums.step_s = seconds[0];
  return sums;
}

// What neither the step model nor the number of steps changes: one column in one environment.
struct CycleRate {
  double failure_rate = 0;
  double masked_s = 0;
  double efficiency = 1;  // g: what checkpoints and lost work leave (efficiency.hpp), s = sqrt(2 U T_s f/D)
  double cycle = 0;       // D + down f: mean length of a cycle, in MTBFs of one unit
  bool progress = true;
};

// Of `c` it uses dwell, dwell_inverse, losing, save_weight, efficiency and restart_growth.
inline CycleRate cycle_rate(const CycleSums& c, const EnvironmentTerms& e) {
  const double f = e.failure_rate;
  const double s = std::sqrt(c.save_weight * e.save_s * f);
  const double x = (e.voluntary_s + c.losing * (e.restart_s - e.voluntary_s)) * f * c.dwell_inverse;
  const std::array<double, 4>& b = c.restart_growth;
  const double longest_x = b[0] > 0 ? kLongestRestart : std::numeric_limits<double>::infinity();
  CycleRate rate;
  rate.failure_rate = f;
  rate.masked_s = e.masked_s;
  rate.efficiency = efficiency(c.efficiency, s);
  rate.cycle = c.dwell * (1 + x * (1 + x * (b[0] + x * (b[1] + x * (b[2] + x * b[3])))));
  rate.progress = (s < kSlowestSave) & (x <= longest_x);
  return rate;
}

// Seconds for `steps` steps: steps (D + down f)/((R - Q f) g), f the failure rate of one unit, down the
// restart or voluntary restart at the end of a cycle. Falls when f falls, rises with restart, save and stop
// times, term by term, and so in floating point too (up to the last bits). Infinity: no progress. Of `c` it
// uses work_rate, patch_steps, stop_steps, last_patch_s and step_s.
inline double time_to_train(const CycleSums& c, const CycleRate& rate, double steps) {
  const double f = rate.failure_rate;
  const double cycle = rate.cycle + c.last_patch_s * f;
  const double work = (c.work_rate - (c.patch_steps + c.stop_steps * rate.masked_s) * f) * rate.efficiency;
  const double time = steps * cycle / work;
  const double without = steps * c.step_s;
  const bool progress = rate.progress & (work > 0) & (time <= kMostSlowdown * without);
  const double with_failures = progress ? time : std::numeric_limits<double>::infinity();
  return f > 0 ? with_failures : without;
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
