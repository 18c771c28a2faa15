#pragma once

#include <cstdint>

#include "faults/cycle.hpp"

namespace trainfront::faults {

// Elastic training whose lost units come back after a repair, without a global restart: it never ends a
// cycle, and hovers about a mean deficit.
struct Rejoining {
  double repair_s = 0;           // from the failure until the unit is back
  double rejoin_s = 0;           // training stops for this to take it in
  std::int64_t idle_spares = 0;  // units that stand in for lost ones at once
};

struct RejoiningTime {
  double time_s = 0;   // infinity: more units are lost than come back
  double deficit = 0;  // mean units missing
};

// With the batch sharing out without rounding (Protection::sub_shards == 1). Units in repair are Poisson with
// mean rho (N - d)/M, and d = E (their number - spares)^+; a step takes T(N/(N-d)), is done again with
// detection after a failure (and again if another hits that), and every failure stops once for rejoining.
RejoiningTime rejoining_time(std::int64_t units, const StepModel& step, const Environment& environment,
                             const Rejoining& rejoining, double steps);

}  // namespace trainfront::faults
