#pragma once

#include <algorithm>
#include <cmath>

namespace trainfront::costmodel {

// (a^p + b^p)^(1/p): two resources that a kernel uses at once, overlapped perfectly at p = infinity and not
// at all at p = 1. a, b >= 0, p >= 1; does not overflow.
inline double norm_sum(double a, double b, double p) {
  const double high = std::max(a, b);
  if (high <= 0) return 0;
  return high * std::pow(1 + std::pow(std::min(a, b) / high, p), 1 / p);
}

}  // namespace trainfront::costmodel
