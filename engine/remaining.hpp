#pragma once

#include <cstdint>
#include <vector>

#include "engine/block_ranges.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// What a sweep that ended early did not look at.
struct Remaining {
  struct Part {  // of one kind of hardware
    int hardware = 0;
    std::uint64_t plans = 0;         // left
    double share = 0;                // of all plans on it
    std::vector<std::int64_t> gpus;  // GPU counts with anything left, ascending
  };
  std::uint64_t plans = 0;
  double share = 0;  // of all plans with an index
  std::vector<Part> parts;
};

Remaining remaining_of(const search::Space& space, const BlockRanges& done);

}  // namespace trainfront::engine
