#include "search/cycle_vector.hpp"

#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/late_kernel.hpp"
#include "faults/spread_kernel.hpp"

// One copy for every width of vectors, chosen when the program starts. All of them round alike: no operation
// is contracted or reordered. (The loader's choice does not get along with sanitizers.)
#if defined(__x86_64__) && !defined(TRAINFRONT_SANITIZED)
#define TRAINFRONT_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRAINFRONT_VECTOR_CLONES
#endif

// No array that a loop writes overlaps another. Compilers check few arrays for that when the loop starts, and
// with more of them than they check they would rather not vectorise; __restrict is lost in the copies.
#if defined(__clang__)
#define TRAINFRONT_ARRAYS_ARE_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRAINFRONT_ARRAYS_ARE_APART _Pragma("GCC ivdep")
#endif

namespace trainfront::search {

TRAINFRONT_VECTOR_CLONES
void sum_cycles(const ClassArrays& cycles, double fixed_s, double per_stack_s, const SumArrays& sums) {
  const std::size_t n = cycles.columns;
  double* __restrict work_rate = sums.work_rate;
  double* __restrict patch_lost = sums.patch_steps;  // these five: faults::SharedPatches at first
  double* __restrict shared = sums.shared;
  double* __restrict shared_twice = sums.shared_twice;
  double* __restrict patch_rate = sums.patch_rate;
  double* __restrict weight = sums.again;
  double* __restrict again_twice = sums.again_twice;
  double* __restrict most_shared = sums.most_shared;
  double* __restrict last_patch_s = sums.last_patch_s;
  double* __restrict last_again_s = sums.last_again_s;
  double* __restrict left_share = sums.left_share;
  double* __restrict step_s = sums.step_s;
  double* __restrict before_s = sums.seconds;
  double* __restrict gained = sums.gained;
  const double* __restrict patch_stacks = cycles.patch_stacks;
  const double* __restrict patch_steps = cycles.patch_steps;
  const double* __restrict masked_s = cycles.masked_s;
  const double* __restrict leaving = cycles.leaving;
  const double* __restrict last_stacks = cycles.last_stacks;
  const double* __restrict end_stacks = cycles.end_stacks;
  const double* __restrict last_crowding = cycles.last_crowding;
  const faults::PatchFit fit = cycles.patches;
  {
    const double* __restrict stacks = cycles.stacks;
    const double* __restrict dwell = cycles.dwell;
    const double* __restrict failures = cycles.failures;
    const double* __restrict crowding = cycles.crowding;
    TRAINFRONT_ARRAYS_ARE_APART
    for (std::size_t j = 0; j < n; ++j) {
      const double seconds = fixed_s + stacks[j] * per_stack_s;
      const double inverse = 1 / seconds;
      const double stop_s = patch_stacks[j] * per_stack_s + masked_s[j];
      faults::SharedPatches patches;
      patches.add(failures[j], crowding[j], seconds, inverse, stop_s + patch_steps[j] * seconds);
      work_rate[j] = dwell[j] * inverse;
      patch_lost[j] = patches.lost;
      weight[j] = patches.weight;
      shared[j] = patches.step;
      shared_twice[j] = patches.step_twice;
      patch_rate[j] = patches.patch;
      before_s[j] = seconds;
      step_s[j] = seconds;
      gained[j] = 0;
    }
  }
  for (std::size_t i = 1; i < cycles.classes; ++i) {
    const double* __restrict stacks = cycles.stacks + i * n;
    const double* __restrict dwell = cycles.dwell + i * n;
    const double* __restrict failures = cycles.failures + i * n;
    const double* __restrict crowding = cycles.crowding + i * n;
    const double* __restrict entered = cycles.entered + i * n;
    TRAINFRONT_ARRAYS_ARE_APART
    for (std::size_t j = 0; j < n; ++j) {
      const double seconds = fixed_s + stacks[j] * per_stack_s;
      const double inverse = 1 / seconds;
      const double stop_s = patch_stacks[j] * per_stack_s + masked_s[j];
      const double patch_s = stop_s + patch_steps[j] * seconds;
      faults::SharedPatches patches{patch_lost[j], weight[j], shared[j], shared_twice[j], patch_rate[j]};
      patches.add(failures[j], crowding[j], seconds, inverse, patch_s);
      work_rate[j] += dwell[j] * inverse;
      patch_lost[j] = patches.lost;
      weight[j] = patches.weight;
      shared[j] = patches.step;
      shared_twice[j] = patches.step_twice;
      patch_rate[j] = patches.patch;
      const double half_step = 0.5 * (1 - before_s[j] * inverse);
      const double patch = patch_s * inverse;
      gained[j] += entered[j] * (half_step < patch ? half_step : patch);
      before_s[j] = seconds;
    }
  }
  TRAINFRONT_ARRAYS_ARE_APART
  for (std::size_t j = 0; j < n; ++j) {
    const double seconds = fixed_s + last_stacks[j] * per_stack_s;
    const double end_s = fixed_s + end_stacks[j] * per_stack_s;
    const faults::CycleEnd end = faults::cycle_end(leaving[j], patch_stacks[j], patch_steps[j], per_stack_s,
                                                   seconds, end_s, masked_s[j]);
    faults::SharedPatches patches{patch_lost[j], weight[j], shared[j], shared_twice[j], patch_rate[j]};
    patches.add_last(end.leaving, last_crowding[j], seconds, end.whole_patch_s);
    const faults::PatchQuotient quotient = faults::patch_quotient(patches, fit, end.repeats);
    patch_lost[j] = patches.lost - gained[j];
    shared[j] = quotient.shared;
    shared_twice[j] = quotient.shared_twice;
    patch_rate[j] = quotient.patch;
    weight[j] = quotient.again;
    again_twice[j] = quotient.again_twice;
    most_shared[j] = quotient.most;
    last_patch_s[j] = end.last_patch_s;
    last_again_s[j] = end.last_again_s;
    left_share[j] = end.half_step / work_rate[j];
  }
}

TRAINFRONT_VECTOR_CLONES
void run_times(std::size_t columns, const SumArrays& sums, const RateArrays& rates, double steps,
               double* out) {
  const double* __restrict work_rate = sums.work_rate;
  const double* __restrict patch_steps = sums.patch_steps;
  const double* __restrict shared = sums.shared;
  const double* __restrict shared_twice = sums.shared_twice;
  const double* __restrict patch_rate = sums.patch_rate;
  const double* __restrict again = sums.again;
  const double* __restrict again_twice = sums.again_twice;
  const double* __restrict most_shared = sums.most_shared;
  const double* __restrict last_patch_s = sums.last_patch_s;
  const double* __restrict last_again_s = sums.last_again_s;
  const double* __restrict left_share = sums.left_share;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict failure_rate = rates.failure_rate;
  const double* __restrict efficiency = rates.efficiency;
  const double* __restrict interval = rates.interval;
  const double* __restrict losing = rates.losing;
  const double* __restrict cycle = rates.cycle;
  double* __restrict times = out;
  TRAINFRONT_ARRAYS_ARE_APART
  for (std::size_t j = 0; j < columns; ++j) {
    faults::CycleSums c;
    c.work_rate = work_rate[j];
    c.patch_steps = patch_steps[j];
    c.shared = shared[j];
    c.shared_twice = shared_twice[j];
    c.patch_rate = patch_rate[j];
    c.again = again[j];
    c.again_twice = again_twice[j];
    c.most_shared = most_shared[j];
    c.last_patch_s = last_patch_s[j];
    c.last_again_s = last_again_s[j];
    c.left_share = left_share[j];
    c.step_s = step_s[j];
    faults::CycleRate rate;
    rate.failure_rate = failure_rate[j];
    rate.efficiency = efficiency[j];
    rate.interval = interval[j];
    rate.losing = losing[j];
    rate.cycle = cycle[j];
    times[j] = faults::time_to_train(c, rate, steps);
  }
}

TRAINFRONT_VECTOR_CLONES
void sum_late(std::size_t columns, const LateArrays& late, const SumArrays& sums, double stack_share,
              double one_stack_s, const LateSumArrays& late_sums) {
  const double* __restrict work_rate = sums.work_rate;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict at_work = late.at_work;
  const double* __restrict at_work_inverse = late.at_work_inverse;
  const double* __restrict others = late.others;
  const double* __restrict first_stacks = late.first_stacks;
  const double* __restrict settled_later = late.settled;
  double* __restrict mean_step_s = late_sums.mean_step_s;
  double* __restrict first = late_sums.first;
  double* __restrict more = late_sums.more;
  double* __restrict first_lag = late_sums.first_lag;
  double* __restrict first_inverse = late_sums.first_inverse;
  double* __restrict settled = late_sums.settled;
  TRAINFRONT_ARRAYS_ARE_APART
  for (std::size_t j = 0; j < columns; ++j) {
    faults::LateCosts costs;
    costs.at_work = at_work[j];
    costs.at_work_inverse = at_work_inverse[j];
    costs.others = others[j];
    costs.first_stacks = first_stacks[j];
    costs.settled = settled_later[j];
    faults::CycleSums c;
    c.work_rate = work_rate[j];
    c.step_s = step_s[j];
    const faults::LateSums result = faults::late_sums(costs, c, stack_share, one_stack_s);
    mean_step_s[j] = result.mean_step_s;
    first[j] = result.first;
    more[j] = result.more;
    first_lag[j] = result.first_lag;
    first_inverse[j] = result.first_inverse;
    settled[j] = result.settled;
  }
}

// What a loop calls must be inlined for it to be vectorised, and this is much.
__attribute__((flatten)) TRAINFRONT_VECTOR_CLONES void run_parts_times(
    std::size_t columns, const SumArrays& sums, const LateArrays& late, const LateSumArrays& late_sums,
    const RateArrays& rates, double steps, double* out) {
  const double* __restrict work_rate = sums.work_rate;
  const double* __restrict patch_steps = sums.patch_steps;
  const double* __restrict shared = sums.shared;
  const double* __restrict shared_twice = sums.shared_twice;
  const double* __restrict patch_rate = sums.patch_rate;
  const double* __restrict again = sums.again;
  const double* __restrict again_twice = sums.again_twice;
  const double* __restrict most_shared = sums.most_shared;
  const double* __restrict last_patch_s = sums.last_patch_s;
  const double* __restrict last_again_s = sums.last_again_s;
  const double* __restrict left_share = sums.left_share;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict at_work = late.at_work;
  const double* __restrict further = late.further;
  const double* __restrict further_inverse = late.further_inverse;
  const double* __restrict further_sharp = late.further_sharp;
  const double* __restrict ends = late.ends;
  const double* __restrict ends_inverse = late.ends_inverse;
  const double* __restrict ends_sharp = late.ends_sharp;
  const double* __restrict mean_step_s = late_sums.mean_step_s;
  const double* __restrict first = late_sums.first;
  const double* __restrict more = late_sums.more;
  const double* __restrict first_lag = late_sums.first_lag;
  const double* __restrict first_inverse = late_sums.first_inverse;
  const double* __restrict settled = late_sums.settled;
  const double* __restrict failure_rate = rates.failure_rate;
  const double* __restrict efficiency = rates.efficiency;
  const double* __restrict interval = rates.interval;
  const double* __restrict losing = rates.losing;
  const double* __restrict cycle = rates.cycle;
  double* __restrict times = out;
  TRAINFRONT_ARRAYS_ARE_APART
  for (std::size_t j = 0; j < columns; ++j) {
    faults::CycleSums c;
    c.work_rate = work_rate[j];
    c.patch_steps = patch_steps[j];
    c.shared = shared[j];
    c.shared_twice = shared_twice[j];
    c.patch_rate = patch_rate[j];
    c.again = again[j];
    c.again_twice = again_twice[j];
    c.most_shared = most_shared[j];
    c.last_patch_s = last_patch_s[j];
    c.last_again_s = last_again_s[j];
    c.left_share = left_share[j];
    c.step_s = step_s[j];
    faults::LateCosts costs;
    costs.further = {further[j], further_inverse[j], further_sharp[j]};
    costs.ends = {ends[j], ends_inverse[j], ends_sharp[j]};
    const faults::LateSums s{at_work[j],   mean_step_s[j],   first[j],  more[j],
                             first_lag[j], first_inverse[j], settled[j]};
    faults::CycleRate rate;
    rate.failure_rate = failure_rate[j];
    rate.efficiency = efficiency[j];
    rate.interval = interval[j];
    rate.losing = losing[j];
    rate.cycle = cycle[j];
    times[j] = faults::run_parts(c, s, costs, rate, steps).time_s;
  }
}

TRAINFRONT_VECTOR_CLONES
void sum_spreads(const ClassArrays& cycles, const SpreadClassArrays& spreads, double fixed_s,
                 double per_stack_s, const SpreadSumArrays& sums) {
  const std::size_t n = cycles.columns;
  double* __restrict steps = sums.steps;
  double* __restrict up_steps = sums.up_steps;
  double* __restrict step_squares = sums.step_squares;
  double* __restrict before = sums.before;
  double* __restrict steps_before = sums.steps_before;
  for (std::size_t j = 0; j < n; ++j) {
    steps[j] = 0;
    up_steps[j] = 0;
    step_squares[j] = 0;
    before[j] = 0;
    steps_before[j] = 0;
  }
  for (std::size_t i = 0; i < cycles.classes; ++i) {
    const double* __restrict stacks = cycles.stacks + i * n;
    const double* __restrict class_stay = spreads.stay + i * n;
    const double* __restrict passage = spreads.passage + i * n;
    const double* __restrict class_squares = spreads.squares + i * n;
    TRAINFRONT_ARRAYS_ARE_APART
    for (std::size_t j = 0; j < n; ++j) {
      const double inverse = 1 / (fixed_s + stacks[j] * per_stack_s);
      const double stay = class_stay[j];
      const double squares = class_squares[j] * inverse;
      steps[j] += stay * inverse;
      up_steps[j] += squares + stay * (inverse * before[j] + steps_before[j]);
      step_squares[j] += inverse * (squares + 2 * stay * steps_before[j]);
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
  const double* __restrict shared = sums.shared;
  const double* __restrict shared_twice = sums.shared_twice;
  const double* __restrict patch_rate = sums.patch_rate;
  const double* __restrict again = sums.again;
  const double* __restrict again_twice = sums.again_twice;
  const double* __restrict most_shared = sums.most_shared;
  const double* __restrict left_share = sums.left_share;
  const double* __restrict step_s = sums.step_s;
  const double* __restrict stay_steps = spread_sums.steps;
  const double* __restrict up_steps = spread_sums.up_steps;
  const double* __restrict step_squares = spread_sums.step_squares;
  const double* __restrict failure_rate = rates.failure_rate;
  const double* __restrict efficiency = rates.efficiency;
  const double* __restrict dwell = spreads.dwell;
  const double* __restrict losing = spreads.losing;
  const double* __restrict up_squares = spreads.up_squares;
  const double* __restrict saving = spreads.saving;
  const double* __restrict lost = spreads.lost;
  const double* __restrict lost_squares = spreads.lost_squares;
  const double* __restrict restart_more = spreads.restart_more;
  const double* __restrict restart_variance = spreads.restart_variance;
  const double* __restrict restart_lost = spreads.restart_lost;
  double* __restrict times = out;
  TRAINFRONT_ARRAYS_ARE_APART
  for (std::size_t j = 0; j < columns; ++j) {
    faults::CycleSums c;
    c.dwell = dwell[j];
    c.losing = losing[j];
    c.work_rate = work_rate[j];
    c.patch_steps = patch_steps[j];
    c.shared = shared[j];
    c.shared_twice = shared_twice[j];
    c.patch_rate = patch_rate[j];
    c.again = again[j];
    c.again_twice = again_twice[j];
    c.most_shared = most_shared[j];
    c.left_share = left_share[j];
    c.step_s = step_s[j];
    faults::CycleRate rate;
    rate.failure_rate = failure_rate[j];
    rate.efficiency = efficiency[j];
    const faults::SpreadSums q{stay_steps[j], up_steps[j], step_squares[j]};
    const faults::SpreadRate spread{up_squares[j],   saving[j],           lost[j],        lost_squares[j],
                                    restart_more[j], restart_variance[j], restart_lost[j]};
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
