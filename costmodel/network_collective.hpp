#pragma once

#include "costmodel/collective_time.hpp"

namespace trainfront::costmodel {

// A collective of a group that spans scale-up domains (placement.domains > 1); bytes > 0.
Timed network_collective_time(const Hardware& hardware, Collective collective, double bytes,
                              const Placement& placement);

}  // namespace trainfront::costmodel
