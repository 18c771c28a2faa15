#pragma once

#include "faults/precise_time.hpp"

namespace trainfront::faults {

// precise_time() for systems with bursts and two levels of checkpoints too, of which it knows nothing: what
// they change in the search's form (run_time) is taken over as a factor. Not for Scheme::kNone and not where
// units come back.
struct RefinedTime {
  PreciseTime time;
  std::int64_t deep_every = 0;  // steps from a deep checkpoint to the next; 0: none
};

// As precise_time(); with two levels of checkpoints, checkpoint_every must be -1.
RefinedTime refined_time(const Simulation& simulation);

}  // namespace trainfront::faults
