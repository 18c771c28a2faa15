#pragma once

#include <array>
#include <cstdint>

#include "faults/event_simulation.hpp"

namespace trainfront::faults {

// The setting of SPARe's paper (arXiv 2603.00357) and its figures: 600k GPUs; MTBF 300 s of the whole system,
// Weibull of shape 0.78; save 60 s, restart 3600 s; stack 64 s, its time Normal(1, 0.05); shrink and
// controller 0.1 s each; 10,000 steps, a checkpoint every 15 of SPARe's and every 6 of replication's. The
// all-reduce rises from 2 to 10 s with N; 6 s at N = 600 is an interpolation. Assumed, since it fits best: a
// constant system rate, failures in restarts too, one patch under replication, rework counted as up.
struct PaperFigures {
  double ratio = 0;  // time-to-train over that without failures
  double availability = 0;
};

struct PaperRow {
  std::int64_t n;
  double sync_s;
  int spare_r;
  PaperFigures spare, replication;  // of r = 3
};
inline constexpr std::array<PaperRow, 3> kPaperRows = {{{200, 2, 9, {2.92, 0.870}, {6.07, 0.617}},
                                                        {600, 6, 8, {2.49, 0.939}, {4.27, 0.799}},
                                                        {1000, 10, 9, {2.34, 0.965}, {3.88, 0.844}}}};

inline Simulation paper_spare(const PaperRow& row) {
  Simulation setup;
  setup.units = row.n;
  setup.protection = {Scheme::kSpare, row.spare_r};
  setup.law = {0.78, false, true};
  setup.placement = Placement::kRandom;
  setup.step = {row.sync_s, 64};
  setup.stack_deviation = 0.05;
  setup.sync_needs_patch = false;
  setup.environment = {300.0 * static_cast<double>(row.n), 3600, 60, 0, 0.2};
  setup.steps = 10'000;
  setup.checkpoint_every = 15;
  setup.seed = 1;
  return setup;
}

inline Simulation paper_replication(const PaperRow& row) {
  Simulation setup = paper_spare(row);
  setup.protection = {Scheme::kReplication, 3};
  setup.stacked_replication = true;
  setup.patch_again = false;
  setup.checkpoint_every = 6;
  return setup;
}

inline double paper_ratio(const Simulation& setup, const SimulatedRun& run) {
  return run.time_s / (static_cast<double>(setup.steps) * (setup.step.fixed_s + setup.step.per_stack_s));
}

inline double paper_availability(const SimulatedRun& run) {
  return 1 - (run.restarts_s + run.checkpoints_s) / run.time_s;
}

}  // namespace trainfront::faults
