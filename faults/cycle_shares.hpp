#pragma once

#include <algorithm>

#include "faults/cycle_kernel.hpp"

namespace trainfront::faults {

// How often checkpoints are written, and the share of a cycle's time at work, less patches, that they take.
struct CycleShares {
  double interval_s = 0;  // from the start of a checkpoint to the next, whole steps between them; 0: none
  double deep_interval_s = 0;  // of deep checkpoints; 0: none
  double saving = 0;           // of both
  double kept = 1;             // what saves and lost work leave
};

// For a failure rate above 0.
inline CycleShares cycle_shares(const CycleColumn& column, const CycleSums& sums, const CycleRate& rate,
                                const EnvironmentTerms& terms) {
  CycleShares shares;
  const double f = terms.failure_rate;
  const double work = unpatched_steps(sums, f);
  if (!(work > 0)) return shares;
  const WholeSteps whole = whole_steps(work, rate);
  shares.kept = rate.efficiency / whole.longer;
  const double at_work_s = (sums.dwell - column.restart_dwell) * (1 + f * sums.left_share) / f;
  double saves = 0;  // per kept time: of the intervals that stay
  if (rate.losing > 0) {
    const double step_s = at_work_s / (work / f);
    shares.interval_s = whole.number * step_s + terms.save_s;
    saves += terms.save_s / (shares.interval_s - terms.save_s);
  }
  const double deep_losing = sums.at_risk * terms.deep_share;
  if (deep_losing > 0 && terms.deep_save_s > 0) {
    const double s = std::sqrt(sums.save_weight * terms.deep_save_s * f * terms.deep_share);
    shares.deep_interval_s =
        (1 - deep_efficiency(sums, terms, s)) / deep_losing * at_work_s + terms.deep_save_s;
    saves += terms.deep_save_s / (shares.deep_interval_s - terms.deep_save_s);
  }
  shares.saving = std::min(shares.kept * saves, 1 - shares.kept);
  return shares;
}

// Of a run of so many steps, in the mean over long runs: what checkpoints between steps take.
inline double interval_saves_s(const CycleColumn& column, const CycleSums& sums, const CycleShares& shares,
                               double steps) {
  return shares.kept > 0 ? steps / shares.kept * shares.saving * column.late.at_work / sums.work_rate : 0;
}

}  // namespace trainfront::faults
