#pragma once

#include "costmodel/collective_time.hpp"

namespace trainfront::costmodel {

// Bytes through one rank's link over the collective's bytes (nccl-tests, doc/PERFORMANCE.md). ranks >= 1.
inline double link_passes(Collective collective, double ranks) {
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::kSendRecv:
      return 1;
    default:
      return (ranks - 1) / ranks;
  }
}

}  // namespace trainfront::costmodel
