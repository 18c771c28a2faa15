#pragma once

#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/spread_kernel.hpp"
#include "faults/survival.hpp"

namespace trainfront::faults {

// Elastic training whose lost units come back after a repair, without a global restart: it hovers about a
// mean deficit, and restarts only where all copies of a part of the state are away at once.
//
// Units in repair are Poisson with the mean rho (N - d)/M, bursts counting all their units, and d = E (their
// number - idle spares)^+. Batches share out without rounding (Protection::sub_shards == 1).
struct RejoinTerms {
  double deficit = 0;          // d: mean units missing
  double stacks = 1;           // N/(N - d)
  double event_rate = 0;       // of failures and bursts together, 1/s
  double again_s = 0;          // detection and reordering before a step is done again
  double pause_s = 0;          // to take units in, once per event
  double lost_rate = 0;        // of events that take the last copy of a part of the state, 1/s
  double kept = 1;             // what checkpoints and the work lost with the state leave
  double waiting = 1;          // 1 + lost_rate x restart
  double interval_s = 0;       // of checkpoints; 0: none
  double save_s = 0;           // of one
  double restart_s = 0;        // after the state was lost
  double missing_s = 0;        // of units, by an event: their number times the repair, ...
  double missing_squares = 0;  // ... and its mean square
  double units_left = 1;       // N - d
  double repair_s = 0;         // until then a run has fewer units missing than later
  bool progress = true;        // fewer units are lost than come back, and checkpoints are quick enough
};

// `lives`: the table's rejoining_lives.
RejoinTerms rejoin_terms(std::int64_t units, const Survival& lives, const FailureLaw& law,
                         const Environment& environment);

// The mean step takes T(N/(N-d)), is done again with detection after a failure, and again if another hits
// that, and every step that was hit makes one pause.
struct RejoinStep {
  double step_s = 0;
  double again_s = 0;
  double pause_s = 0;
  double total_s() const { return step_s + again_s + pause_s; }
};

inline RejoinStep rejoin_step(const RejoinTerms& terms, const StepModel& step) {
  RejoinStep mean;
  mean.step_s = step.fixed_s + step.per_stack_s * terms.stacks;
  const double once_s = mean.step_s + terms.again_s;
  const double hit = -std::expm1(-terms.event_rate * mean.step_s);
  mean.again_s = hit * std::exp(terms.event_rate * once_s) * once_s;
  mean.pause_s = hit * terms.pause_s;
  return mean;
}

// Seconds for `steps` steps; infinity: no progress.
inline double rejoining_time_s(const RejoinTerms& terms, const StepModel& step, double steps) {
  const double without = steps * (step.fixed_s + step.per_stack_s);
  const double time = steps * rejoin_step(terms, step).total_s() * terms.waiting / terms.kept;
  const bool ends = terms.progress & (time <= kMostSlowdown * without);
  return ends ? time : std::numeric_limits<double>::infinity();
}

// Of a run's time, restarts, pauses to take units in, and checkpoints.
struct RejoinShares {
  double pauses = 0;
  double restarts = 0;
  double checkpoints = 0;
  double down() const { return pauses + restarts + checkpoints; }
};
inline RejoinShares rejoin_shares(const RejoinTerms& terms, const StepModel& step) {
  const RejoinStep mean = rejoin_step(terms, step);
  RejoinShares shares;
  shares.restarts = 1 - 1 / terms.waiting;
  const double saving = terms.interval_s > 0 ? terms.save_s / terms.interval_s : 0;
  shares.checkpoints = saving / terms.waiting;
  shares.pauses = mean.pause_s / mean.total_s() * terms.kept / terms.waiting;
  return shares;
}

// As in spread_kernel.hpp: every event costs its step again, its pause and, unit by unit, the speed that is
// missing until the repair; and those that lose the state a restart and the work since a checkpoint.
Moments rejoining_moments(const RejoinTerms& terms, const StepModel& step, double steps, double mean_s);

}  // namespace trainfront::faults
