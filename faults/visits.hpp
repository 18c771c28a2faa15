#pragma once

#include "faults/protection.hpp"

namespace trainfront::faults {

// Chance that the number of lost units takes the value k, being raised by 1 or, with the law's share, by a
// geometric number: v_k = (1 - share) v_(k-1) + share p h_k, h_k = sum over j >= 1 of (1-p)^(j-1) v_(k-j).
struct Visits {
  double at = 1;     // v_k
  double burst = 0;  // h_k

  void advance(const FailureLaw& law) {
    const double p = 1 / law.burst_units;
    burst = at + (1 - p) * burst;
    at = (1 - law.burst_share) * at + law.burst_share * p * burst;
  }
};

}  // namespace trainfront::faults
