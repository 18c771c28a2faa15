#pragma once

#include <algorithm>
#include <cstdint>

namespace trainfront::faults {

// Where a flat function of the whole numbers from 1 to `most` has its one minimum: from a guess, in strides
// that double while they help and halve when they do not.
template <class Function>
std::int64_t least_of_whole_numbers(Function&& value, std::int64_t guess, std::int64_t most) {
  std::int64_t best = std::clamp<std::int64_t>(guess, 1, std::max<std::int64_t>(1, most));
  double least = value(best);
  for (std::int64_t stride = std::max<std::int64_t>(1, best / 4); stride >= 1;) {
    bool moved = false;
    for (const std::int64_t next : {best - stride, best + stride}) {
      if (moved || next < 1 || next > most) continue;
      const double other = value(next);
      if (!(other < least)) continue;
      least = other;
      best = next;
      moved = true;
    }
    stride = moved ? 2 * stride : stride / 2;
  }
  return best;
}

}  // namespace trainfront::faults
