#pragma once

#include <optional>

#include "faults/event_simulation.hpp"

namespace trainfront::faults {

// What simulate() gives in the mean, in closed form (docs/failures.md): the renewal model of cycle.hpp with
// what the search's kernel leaves out, namely checkpoints at whole steps, several failures in a step,
// failures in patches, the distribution of the cycle's length, and the states that pass during restarts that
// can fail. Bursts, traces, rejoining units and jitter of stacks are beyond it.
//
// Runs of few cycles have a form of their own (short_run.hpp).
//
// From 20 steps per MTBF of the full system a fluid form; below that, a Markov chain over (units lost, steps
// not saved), exact for exponential failures, times the fluid's ratio of the law to the exponential one.
// Beyond 3e7 states or 2000 steps between checkpoints it is the fluid form again, and is_rough says so.
//
// Where failures of another law are masked by patches and strike more often than every step (elastic: any
// law, every two), no form is good: of such the time and the availability are NaN. Simulate them.
struct PreciseTime {
  double time_s = 0;        // infinity: no progress; NaN: not known
  double availability = 0;  // 1 - (restarts and checkpoints)/time; saves that failures cut short are
                            // lost work
  std::int64_t checkpoint_every = 0;  // steps; the best if the simulation says -1
  double checkpoint_interval_s = 0;   // from the start of one to the start of the next; 0: none
  double mean_stacks = 1;             // over time up
  double failures = 0;                // in a cycle
  double cycle_s = 0;                 // mean, restart included
  double saved_steps = 0;             // in a cycle
  double restarts_s = 0;              // in a cycle
  double saves = 0;                   // in a cycle, of those that are not cut short
  bool is_rough = false;  // by the fluid form where the chain is due but would have too many states
};

// checkpoint_every: -1 finds the best, 0: none. k_max >= 0. Not for Scheme::kNone.
PreciseTime precise_time(const Simulation& simulation);

// The same in the mean over long runs.
struct LongRun {
  PreciseTime time;
  double more_s = 0;  // of the time, what it is above the fluid form
};
LongRun long_run(const Simulation& simulation, const Survival& survival);
// How long the units live, as both take it; nothing where they have no time to give: see precise_time().
std::optional<Survival> survival_of(const Simulation& simulation);
// From restarts, saves and the cycle.
double available(const PreciseTime& time, const Simulation& simulation);

// The two forms by themselves, for a given interval.
PreciseTime fluid_time(const Simulation& simulation, const Survival& survival);
PreciseTime chain_time(const Simulation& simulation, const Survival& survival);  // exponential law

inline constexpr double kChainBelowSteps = 20;

}  // namespace trainfront::faults
