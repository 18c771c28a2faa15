#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "search/front.hpp"
#include "search/space.hpp"

namespace trainfront::search {

// Plans by what became of them. The first group depends on the problem alone; the second on the run (bounds,
// incumbents, order) and never goes into the front's files.
struct Counts {
  std::uint64_t plans = 0;
  std::array<std::uint64_t, costmodel::kRules> illegal{};  // by Rule
  std::uint64_t out_of_memory = 0;
  std::uint64_t non_finite = 0;

  std::uint64_t evaluated = 0;
  std::array<std::uint64_t, 8> pruned{};                   // by bound, see walk.cpp

  Counts& operator+=(const Counts& other);
};

// The plan that came nearest to being feasible, by the lowest (excess, index).
struct NearMiss {
  double excess_bytes = 0;
  std::uint64_t index = 0;
};

// What walking a part of the space yields. Merging is associative and commutative: any split gives the same whole.
struct Harvest {
  Front front;
  Counts counts;
  std::optional<NearMiss> least_memory_excess;

  void merge(const Harvest& other);
};

struct WalkOptions {
  bool brute_force = false;       // evaluate every plan, no bounds
};

// Adds blocks [first, last) to the harvest. `incumbent` (may be empty) prunes beside the harvest's own front; it
// changes the work, never harvest.merge's final front. Thread-safe on different harvests.
void walk(const Space& space, std::uint64_t first, std::uint64_t last, const Front& incumbent,
          const WalkOptions& options, Harvest& harvest);

}  // namespace trainfront::search
