#pragma once

#include <cstdint>

#include "search/space.hpp"

namespace trainfront::search {

// Where a plan's time and dollars go, in the mean over failures: Outcome::time_to_train_s and cost_usd taken
// apart (faults::LossTree, with what only the plan knows of).
struct Losses {
  double steps = 0;            // that the tokens need at a batch far below the critical one
  double step_s = 0;           // without failures; steps x step_s is what the rest adds to
  double batch_s = 0;          // further steps, since tokens teach less in large batches
  double redundancy_s = 0;     // further stacks
  double patches_s = 0;        // masked failures
  double checkpoints_s = 0;    // saves
  double lost_work_s = 0;      // thrown away by restarts
  double restarts_s = 0;       // and voluntary ones
  double preemption_s = 0;     // the share of patches, lost work and restarts that preemptions, being that
                               // share of the failures, cause; not among the three above
  double reserve_s = 0;        // kept ready so that the time holds with Goal::probability; 0 without one
  double idle_spares_usd = 0;  // spare nodes, paid for all the time; every second costs the others besides
  double egress_usd = 0;       // for data that leaves the provider
  double computing_usd_per_s = 0;

  double time_s() const {
    return steps * step_s + batch_s + redundancy_s + patches_s + checkpoints_s + lost_work_s + restarts_s +
           preemption_s + reserve_s;
  }
};

// The plan must be feasible.
Losses losses(const Space& space, std::uint64_t index);

}  // namespace trainfront::search
