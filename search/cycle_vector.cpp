#include "search/cycle_vector.hpp"

#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/spread_kernel.hpp"

// One copy for every width of vectors, chosen when the program starts. All of them round alike: no operation
// is contracted or reordered. (The loader's choice does not get along with sanitizers.)
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define TRAINFRONT_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRAINFRONT_VECTOR_CLONES
#endif

namespace trainfront::search {

TRAINFRONT_VECTOR_CLONES
void sum_cycles(const ClassArrays& cycles, double fixed_s, double per_stack_s, const SumArrays& sums) {
  const std::size_t n = cycles.columns;
  double* __restrict work_rate = sums.work_rate;
  double* __restrict patch_lost = sums.patch_steps;
  double* __restrict stop_steps = sums.stop_steps;
  double* __restrict last_patch_s = sums.last_patch_s;
  double* __restrict step_s = sums.step_s;
  double* __restrict seconds = sums.seconds;
  double* __restrict gained = sums.gained;
  const double* __restrict patch_stacks = cycles.patch_stacks;
  const double* __restrict patch_steps = cycles.patch_steps;
  const double* __restrict masked = cycles.masked;
  const double* __restrict losing = cycles.losing;
  const double* __restrict last_stacks = cycles.last_stacks;
  {
    const double* __restrict stacks = cycles.stacks;
    const double* __restrict dwell = cycles.dwell;
    const double* __restrict failures = cycles.failures;
    for (std::size_t j = 0; j < n; ++j) {
      const double s = fixed_s + stacks[j] * per_stack_s;
      const double inverse = 1 / s;
      seconds[j] = s;
      step_s[j] = s;
      work_rate[j] = dwell[j] * inverse;
      stop_steps[j] = failures[j] * inverse;
      gained[j] = 0;
    }
  }
  for (std::size_t i = 1; i < cycles.classes; ++i) {
    const double* __restrict stacks = cycles.stacks + i * n;
    const double* __restrict dwell = cycles.dwell + i * n;
    const double* __restrict failures = cycles.failures + i * n;
    const double* __restrict entered = cycles.entered + i * n;
    for (std::size_t j = 0; j < n; ++j) {
      const double s = fixed_s + stacks[j] * per_stack_s;
      const double inverse = 1 / s;
      work_rate[j] += dwell[j] * inverse;
      stop_steps[j] += failures[j] * inverse;
      const double half_step = 0.5 * (1 - seconds[j] * inverse);
      const double patch = patch_stacks[j] * per_stack_s * inverse + patch_steps[j];
      gained[j] += entered[j] * (half_step < patch ? half_step : patch);
      seconds[j] = s;
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const double patch_s = patch_stacks[j] * per_stack_s;
    patch_lost[j] = patch_s * stop_steps[j] + patch_steps[j] * masked[j] - gained[j];
    last_patch_s[j] = (1 - losing[j]) * (patch_s + patch_steps[j] * (fixed_s + last_stacks[j] * per_stack_s));
  }
}

TRAINFRONT_VECTOR_CLONES
void run_times(std::size_t columns, const SumArrays& sums, const RateArrays& rates, double steps,
               double* out) {
  const double* __restrict work_rate = sums.work_rate;
  const double* __restrict patch_steps = sums.patch_steps;
  const double* __restrict stop_steps = sums.stop_steps;
  const double* __restrict last_patch_s = sums.last_patch_s;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict failure_rate = rates.failure_rate;
  const double* __restrict masked_s = rates.masked_s;
  const double* __restrict efficiency = rates.efficiency;
  const double* __restrict cycle = rates.cycle;
  double* __restrict times = out;
  for (std::size_t j = 0; j < columns; ++j) {
    faults::CycleSums c;
    c.work_rate = work_rate[j];
    c.patch_steps = patch_steps[j];
    c.stop_steps = stop_steps[j];
    c.last_patch_s = last_patch_s[j];
    c.step_s = step_s[j];
    faults::CycleRate rate;
    rate.failure_rate = failure_rate[j];
    rate.masked_s = masked_s[j];
    rate.efficiency = efficiency[j];
    rate.cycle = cycle[j];
    times[j] = faults::time_to_train(c, rate, steps);
  }
}

TRAINFRONT_VECTOR_CLONES
void sum_spreads(const ClassArrays& cycles, const SpreadClassArrays& spreads, double fixed_s,
                 double per_stack_s, const SpreadSumArrays& sums) {
  const std::size_t n = cycles.columns;
  double* __restrict up_steps = sums.up_steps;
  double* __restrict step_squares = sums.step_squares;
  double* __restrict before = sums.before;
  double* __restrict steps_before = sums.steps_before;
  for (std::size_t j = 0; j < n; ++j) {
    up_steps[j] = 0;
    step_squares[j] = 0;
    before[j] = 0;
    steps_before[j] = 0;
  }
  for (std::size_t i = 0; i < cycles.classes; ++i) {
    const double* __restrict stacks = cycles.stacks + i * n;
    const double* __restrict class_dwell = cycles.dwell + i * n;
    const double* __restrict passage = spreads.passage + i * n;
    const double* __restrict class_squares = spreads.squares + i * n;
    for (std::size_t j = 0; j < n; ++j) {
      const double inverse = 1 / (fixed_s + stacks[j] * per_stack_s);
      const double dwell = class_dwell[j];
      const double squares = class_squares[j] * inverse;
      up_steps[j] += squares + dwell * (inverse * before[j] + steps_before[j]);
      step_squares[j] += inverse * (squares + 2 * dwell * steps_before[j]);
      before[j] += passage[j];
      steps_before[j] += passage[j] * inverse;
    }
  }
}

TRAINFRONT_VECTOR_CLONES
void hold_times(std::size_t columns, const SumArrays& sums, const SpreadSumArrays& spread_sums,
                const RateArrays& rates, const SpreadArrays& spreads, double steps, double deviate,
                double* out) {
  const double* __restrict work_rate = sums.work_rate;
  const double* __restrict patch_steps = sums.patch_steps;
  const double* __restrict stop_steps = sums.stop_steps;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict up_steps = spread_sums.up_steps;
  const double* __restrict step_squares = spread_sums.step_squares;
  const double* __restrict failure_rate = rates.failure_rate;
  const double* __restrict masked_s = rates.masked_s;
  const double* __restrict efficiency = rates.efficiency;
  const double* __restrict dwell = spreads.dwell;
  const double* __restrict losing = spreads.losing;
  const double* __restrict up_squares = spreads.up_squares;
  const double* __restrict saving = spreads.saving;
  const double* __restrict interval = spreads.interval;
  const double* __restrict restart_more = spreads.restart_more;
  double* __restrict times = out;
  for (std::size_t j = 0; j < columns; ++j) {
    faults::CycleSums c;
    c.dwell = dwell[j];
    c.losing = losing[j];
    c.work_rate = work_rate[j];
    c.patch_steps = patch_steps[j];
    c.stop_steps = stop_steps[j];
    c.step_s = step_s[j];
    faults::CycleRate rate;
    rate.failure_rate = failure_rate[j];
    rate.masked_s = masked_s[j];
    rate.efficiency = efficiency[j];
    const faults::SpreadSums q{up_steps[j], step_squares[j]};
    const faults::SpreadRate spread{up_squares[j], saving[j], interval[j], restart_more[j]};
    const double mean_s = times[j];
    times[j] = faults::time_to_hold(mean_s, faults::moments(c, q, rate, spread, steps, mean_s), deviate);
  }
}

TRAINFRONT_VECTOR_CLONES
double least_of(const double* values, std::size_t count) {
  double lanes[8];
  for (double& lane : lanes) lane = std::numeric_limits<double>::infinity();
  std::size_t j = 0;
  for (; j + 8 <= count; j += 8)
    for (std::size_t lane = 0; lane < 8; ++lane)
      lanes[lane] = values[j + lane] < lanes[lane] ? values[j + lane] : lanes[lane];
  double least = std::numeric_limits<double>::infinity();
  for (; j < count; ++j) least = values[j] < least ? values[j] : least;
  for (double lane : lanes) least = lane < least ? lane : least;
  return least;
}

}  // namespace trainfront::search
