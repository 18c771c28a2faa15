#pragma once

#include "faults/cycle.hpp"

namespace trainfront::faults {

// How far the time of one run may lie from its mean. Cycles are renewals, so that over many of them time is
// normal with variance (cycles) x Var(C - rho S): C a cycle's length, S its saved steps, rho = E C/E S
// (Asmussen, "Applied Probability and Queues", V.6). Here S follows C at the cycle's mean speed, less what is
// lost since the last checkpoint, uniform in an interval.
struct TimeSpread {
  double mean_s = 0;       // run_time().time_s; infinity: no progress
  double least_s = 0;      // without any failure, checkpoints included
  double deviation_s = 0;  // standard deviation
  double cycles = 0;       // mean number in the run; quantiles are rough below three
};

TimeSpread time_spread(const CycleTable& table, const StepModel& step, const Environment& environment,
                       double steps);

// The time that is not exceeded with that probability, 0 < probability < 1: the excess over least_s is taken
// for gamma distributed.
double quantile_s(const TimeSpread& spread, double probability);

}  // namespace trainfront::faults
