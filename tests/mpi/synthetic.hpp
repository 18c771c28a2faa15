#pragma once

#include <cstdint>
#include <functional>

#include "search/front.hpp"
#include "search/walk.hpp"

namespace trainfront::tests {

// A space without a cost model: plan i is a point from a hash of i, on a curve of good plans or above it.
// Every third block is illegal as a whole, every seventh has plans that do not fit.
inline constexpr std::uint64_t kPlansPerBlock = 50;

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline search::Point synthetic_point(std::uint64_t index) {
  const std::uint64_t hash = mix(index + 1);
  // Few distinct values, so that ties are frequent.
  const double time_s = 1 + static_cast<double>(hash % 512);
  const double above = static_cast<double>((hash >> 16) % 64);
  return {time_s, 1e6 / time_s + above, index};
}

inline bool synthetic_walk(std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                           search::Harvest& harvest, const std::function<bool()>& = {}) {
  for (std::uint64_t block = first; block < last; ++block) {
    harvest.counts.plans += kPlansPerBlock;
    if (block % 3 == 0) {
      harvest.counts.illegal[1] += kPlansPerBlock;
      continue;
    }
    for (std::uint64_t plan = block * kPlansPerBlock; plan < (block + 1) * kPlansPerBlock; ++plan) {
      const search::Point point = synthetic_point(plan);
      if (block % 7 == 0 && plan % 5 == 0) {
        harvest.counts.out_of_memory += 1;
        const search::NearMiss miss{point.cost_usd, plan};
        const auto& least = harvest.least_memory_excess;
        const bool nearer = !least || miss.excess_bytes < least->excess_bytes ||
                            (miss.excess_bytes == least->excess_bytes && miss.index < least->index);
        if (nearer) harvest.least_memory_excess = miss;
        continue;
      }
      if (incumbent.dominates(point)) {
        harvest.counts.pruned[0] += 1;
        continue;
      }
      harvest.counts.evaluated += 1;
      harvest.front.add(point);
    }
  }
  return true;
}

}  // namespace trainfront::tests
