#pragma once

#include "faults/cycle.hpp"

namespace trainfront::faults {

// Where the time of a run goes, in the mean; run_time() taken apart. Names follow the badput taxonomy of
// AI-Hypercomputer/ml-goodput-measurement where it has one (docs/failures.md).
struct LossTree {
  double useful_s = 0;      // the steps at one stack
  double redundancy_s = 0;  // further stacks: of replication, of survivors that take over
  double patches_s = 0;     // step done again after masked failures, with detection and reordering
  double checkpoints_s = 0;
  double lost_work_s = 0;  // steps that a restart threw away (wasted progress from disruption)
  double restarts_s = 0;   // (infrastructure recovery from disruption)

  double total_s() const {
    return useful_s + redundancy_s + patches_s + checkpoints_s + lost_work_s + restarts_s;
  }
  double goodput() const { return useful_s / total_s(); }
};

// Of the plan that run_time() chooses for the same arguments. total_s() is the mean of its time up to
// rounding; all zero but infinite lost_work_s where no progress is made.
LossTree loss_tree(const CycleTable& table, const StepModel& step, const Environment& environment,
                   double steps, const std::optional<Chance>& chance = {});

}  // namespace trainfront::faults
