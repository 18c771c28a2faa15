#pragma once

#include <cstdint>

#include "faults/protection.hpp"

namespace trainfront::faults {

// One cycle, from a global restart to the next, of N groups under a protection: sums over the states k (groups
// lost) of survival, dwell and stacks. Depends on nothing else; built once per (N, protection, law) and then
// nanoseconds per plan.
struct CycleTable {
  // members: cycle.cpp's business
};
CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law);

// The step with c stacks takes fixed_s + c per_stack_s.
struct StepModel {
  double fixed_s = 0;
  double per_stack_s = 0;
};

struct Environment {
  double group_mtbf_s = 0;      // of one group alone; infinity: never fails
  double restart_s = 0;         // a global restart, detection included
  double save_s = 0;            // a checkpoint stops training for this
  double detect_s = 0;          // before a masked failure is known
  double reorder_s = 0;         // controller and shrinking after it
};

// Training of `steps` steps, in the mean.
struct RunTime {
  double time_s = 0;            // infinity: it makes no progress
  double interval_s = 0;        // best time between checkpoints; 0: none are written
  double availability = 1;      // share of time outside restarts and checkpoints
};
RunTime run_time(const CycleTable& table, const StepModel& step, const Environment& environment, double steps);

}  // namespace trainfront::faults
