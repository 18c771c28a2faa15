#pragma once

#include <cstddef>

#include "faults/late_costs.hpp"
#include "faults/patch_sharing.hpp"

namespace trainfront::search {

// faults::cycle_sums and faults::time_to_train for `columns` at once: the same operations on every column in
// the same order, hence the same bits. Arrays are by column; those "by class" hold class 0 of all columns,
// then class 1.

struct ClassArrays {
  std::size_t columns = 0;
  std::size_t classes = 0;
  const double* stacks = nullptr;    // by class
  const double* dwell = nullptr;     // by class
  const double* failures = nullptr;  // by class
  const double* crowding = nullptr;  // by class
  const double* entered = nullptr;   // by class
  const double* patch_stacks = nullptr;
  const double* patch_steps = nullptr;
  const double* masked_s = nullptr;
  const double* leaving = nullptr;
  const double* last_stacks = nullptr;
  const double* end_stacks = nullptr;
  const double* last_crowding = nullptr;
  faults::PatchFit patches;  // of the failure law, for all
};

struct SumArrays {
  double* work_rate = nullptr;
  double* patch_steps = nullptr;
  double* shared = nullptr;
  double* shared_twice = nullptr;
  double* patch_rate = nullptr;
  double* again = nullptr;
  double* again_twice = nullptr;
  double* most_shared = nullptr;
  double* last_patch_s = nullptr;
  double* last_again_s = nullptr;
  double* left_share = nullptr;
  double* step_s = nullptr;
  double* seconds = nullptr;  // scratch
  double* gained = nullptr;   // scratch
};

void sum_cycles(const ClassArrays& cycles, double fixed_s, double per_stack_s, const SumArrays& sums);

// faults::CycleRate; no progress: cycle is infinite.
struct RateArrays {
  const double* failure_rate = nullptr;
  const double* efficiency = nullptr;
  const double* interval = nullptr;
  const double* losing = nullptr;
  const double* cycle = nullptr;
};

void run_times(std::size_t columns, const SumArrays& sums, const RateArrays& rates, double steps,
               double* times);

// What masks failures needs beside these: faults::late_sums, then faults::run_parts in place of
// faults::time_to_train.

// faults::LateCosts.
struct LateArrays {
  const double* at_work = nullptr;
  const double* at_work_inverse = nullptr;
  const double* others = nullptr;
  const double* first_stacks = nullptr;
  const double* settled = nullptr;
  const double* further = nullptr;
  const double* further_inverse = nullptr;
  const double* further_sharp = nullptr;
  const double* ends = nullptr;
  const double* ends_inverse = nullptr;
  const double* ends_sharp = nullptr;
};

// faults::LateSums, but for what is the column's own.
struct LateSumArrays {
  double* mean_step_s = nullptr;
  double* first = nullptr;
  double* more = nullptr;
  double* first_lag = nullptr;
  double* first_inverse = nullptr;
  double* settled = nullptr;
};

void sum_late(std::size_t columns, const LateArrays& late, const SumArrays& sums, double stack_share,
              double one_stack_s, const LateSumArrays& late_sums);

void run_parts_times(std::size_t columns, const SumArrays& sums, const LateArrays& late,
                     const LateSumArrays& late_sums, const RateArrays& rates, double steps, double* times);

// What a probability needs beside these: faults::spread_sums and faults::time_to_hold, likewise.

struct SpreadClassArrays {
  const double* stay = nullptr;     // by class
  const double* passage = nullptr;  // by class
  const double* squares = nullptr;  // by class
};

struct SpreadSumArrays {
  double* steps = nullptr;
  double* up_steps = nullptr;
  double* step_squares = nullptr;
  double* before = nullptr;        // scratch
  double* steps_before = nullptr;  // scratch
};

void sum_spreads(const ClassArrays& cycles, const SpreadClassArrays& spreads, double fixed_s,
                 double per_stack_s, const SpreadSumArrays& sums);

// Columns' own figures, faults::CycleColumn and faults::SpreadRate.
struct SpreadArrays {
  const double* dwell = nullptr;
  const double* losing = nullptr;
  const double* up_squares = nullptr;
  const double* saving = nullptr;
  const double* lost = nullptr;
  const double* lost_squares = nullptr;
  const double* restart_more = nullptr;
  const double* restart_variance = nullptr;
  const double* restart_lost = nullptr;
};

// Turns the means that run_times gave into times that hold with a probability.
void hold_times(std::size_t columns, const SumArrays& sums, const SpreadSumArrays& spread_sums,
                const RateArrays& rates, const SpreadArrays& spreads, double steps, double deviate,
                double* times);

// The least of values[0 .. count); infinity if there are none.
double least_of(const double* values, std::size_t count);

}  // namespace trainfront::search
