#pragma once

#include <cstdint>
#include <vector>

#include "faults/cycle.hpp"

namespace trainfront::faults {

// Something that takes out units at a known time.
struct DatedFailure {
  double time_s = 0;  // since the start of the training
  int units = 1;      // random survivors
};

// A whole training run, step by step. What the closed forms take for granted is played out here: which units
// are lost, whether a type or a part of the state has lost all its hosts, failures in patches, saves and
// restarts.
struct Simulation {
  std::int64_t units = 1;
  Protection protection;  // k_max >= 0
  FailureLaw law;
  std::int64_t state_copies = -1;            // -1: every unit holds all of the state
  Placement placement = Placement::kGolomb;  // random offsets are drawn anew for each run
  StepModel step;
  Environment environment;
  std::int64_t steps = 0;
  std::int64_t checkpoint_every = 0;  // steps; 0: never
  std::int64_t deep_every = 0;  // steps from a deep checkpoint to the next, written instead of the quick
                                // one that is due; 0: all are quick, and restarts find them

  double stack_deviation = 0;        // a stack's time is Normal(1, this) times per_stack_s
  bool sync_needs_patch = true;      // failures in the step's fixed part need a patch too
  bool patch_again = true;           // failures in a patch need another
  bool stacked_replication = false;  // replication as SPARe's paper compares with: N types on r groups, all r
                                     // stacks computed always, one stack for a patch
  bool exact_depth = false;          // SPARe: depth and order by RECTLR, not ceil(N m/(N-k))/m

  // Hot spares, in units: restarts wait until all but so many of the lost units are replaced. -1: they never
  // wait for more than their restart_s.
  std::int64_t hot_spares = -1;
  double replace_s = 0;  // from the loss of a unit until another is there

  double burst_mtbf_s = 0;  // mean time between bursts of the whole system (spot preemptions); 0: none
  double burst_units = 1;   // mean units lost in one; geometric, at least 1
  std::vector<DatedFailure> trace;  // ascending; instead of the law, unless empty
  std::uint64_t seed = 0;
};

struct SimulatedRun {
  bool finished =
      false;  // within kMostSlowdown times the failure-free time; else the rest is as far as it got
  double time_s = 0;
  // Where the time went; sums to time_s.
  double useful_s = 0;      // steps that were kept, at one stack
  double redundancy_s = 0;  // their further stacks
  double patches_s = 0;     // and patches, detection and reordering in them
  double checkpoints_s = 0;
  double lost_work_s = 0;     // steps, patches and saves that a restart threw away
  double restarts_s = 0;      // and rejoining
  std::int64_t failures = 0;  // units lost
  std::int64_t restarts = 0;  // after lost work
  std::int64_t voluntary_restarts = 0;
  double stack_steps = 0;  // stacks of all steps that were done, over their number: mean stacks
};

// Run `number` of this simulation; depends on the arguments alone.
SimulatedRun simulate(const Simulation& simulation, std::int64_t number);

// The interval that the closed form recommends, in steps, at least 1; 0 if it needs no checkpoints.
std::int64_t best_checkpoint_steps(const CycleTable& table, const StepModel& step,
                                   const Environment& environment);

}  // namespace trainfront::faults
