#pragma once

#include "costmodel/islands.hpp"

namespace trainfront::costmodel {

// Seconds that every training step pays, on average, for the islands' outer synchronisation: each inner_steps
// steps a ring all-reduce of all `parameters` between the islands, 2 (n-1)/n of them over each link and 2
// (n-1) hops of half a round trip; nothing of it overlapped (DiLoCo, arXiv 2311.08105). 0 for one island.
double outer_sync_per_step_s(const Islands& islands, double parameters);

}  // namespace trainfront::costmodel
