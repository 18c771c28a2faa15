#pragma once

#include "faults/precise_time.hpp"

namespace trainfront::faults {

// From so many cycles on a run is long.
inline constexpr double kLongRunCycles = 50;

// A run of few cycles: it starts with all of its units and ends within a cycle, without a last restart or
// save. In the mean.
struct ShortRun {
  double time_s = 0;
  double down_s = 0;  // of that, restarts and saves that were not cut short
};

// With the steps done q since a restart go the chances f(q) dq that the cycle ends there (cycle_by_work.hpp).
// With T(q) the time without restarts, R what a restart takes, and of q steps n floor(q/n) saved, the mean
// time of Q steps is
//   A(Q) = T(Q) + the integral over q to Q of f(q) (R + A(Q - saved)).
// Knows of bursts, restarts that fail and two levels of checkpoints. Of the simulation, steps,
// checkpoint_every (0: none) and deep_every are read too. Infinity: no progress.
ShortRun short_run(const Simulation& simulation, const Survival& survival);

// What short_run() has to say of a run, in place of the long run's `time`: that, availability and, if the
// simulation leaves them open (checkpoint_every -1), the best intervals, which then it has too: for runs of
// few intervals whole shares of the run; 0 steps if no checkpoint is worth its time, and as many as the run
// has if no deep one is. Where steps are not told apart, `more_s` is what a
// form finer than the fluid one adds to the time of a long run.
void take_as_short_run(Simulation& simulation, const Survival& survival, double more_s, PreciseTime& time);

// Fewer cycles than kLongRunCycles, or no progress in the long run though a few steps may end.
bool is_short_run(const Simulation& simulation, const PreciseTime& time);
// Up to so many steps they are told apart: a form of exponential failures that is exact.
inline constexpr std::int64_t kToldApart = 1000;

}  // namespace trainfront::faults
