#pragma once

#include <cstdint>

namespace trainfront::costmodel {

// std::ceil without a call; 0 <= x < 2^53.
inline double round_up(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + (whole < x ? 1 : 0);
}

}  // namespace trainfront::costmodel
