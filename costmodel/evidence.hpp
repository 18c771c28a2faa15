#pragma once

#include <algorithm>
#include <cstdint>

namespace trainfront::costmodel {

// What a number rests on, best first. An answer is as good as the worst number in it.
enum class Evidence : std::uint8_t { kCalibrated, kInterpolated, kExtrapolated, kDataSheet };

inline Evidence worst(Evidence a, Evidence b) {
  return std::max(a, b);
}

struct Timed {
  double seconds = 0;
  Evidence evidence = Evidence::kCalibrated;
};

}  // namespace trainfront::costmodel
