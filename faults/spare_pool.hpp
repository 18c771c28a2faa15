#pragma once

#include <cmath>

namespace trainfront::faults {

// Chance that a failure finds no hot spare left: as many or more of the failures within a repair are still
// being mended, their number being Poisson with the mean `failures_in_repair` (nodes x repair time/node
// MTBF).
inline double chance_of_shortage(double failures_in_repair, int spares) {
  if (spares <= 0) return 1;
  double term = std::exp(-failures_in_repair);
  double enough = 0;
  for (int busy = 0; busy < spares; ++busy) {
    enough += term;
    term *= failures_in_repair / (busy + 1);
  }
  return enough < 1 ? 1 - enough : 0;
}

}  // namespace trainfront::faults
