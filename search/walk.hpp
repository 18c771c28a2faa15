#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "search/front.hpp"
#include "search/space.hpp"

namespace trainfront::search {

// What made it certain, without evaluating them, that plans are not on the front (docs/search.md has the
// proofs).
enum class Bound : std::uint8_t {
  kFlush,       // the pipeline's flush alone, under the least overhead that is known without the protection's
                // tables
  kStep,        // the whole step, under the same
  kProtection,  // the whole step, under the protections' least overhead at its share of fixed time
};
inline constexpr int kBounds = 3;
std::string_view bound_name(Bound bound);

// Plans by what became of them. The first group depends on the problem alone; the second on the run (bounds,
// incumbents, order) and never goes into the front's files. Of all plans, those neither illegal nor out of
// memory are evaluated or pruned; those not finite are among them.
struct Counts {
  std::uint64_t plans = 0;
  std::array<std::uint64_t, costmodel::kRules> illegal{};  // by Rule
  std::uint64_t out_of_memory = 0;
  std::uint64_t non_finite = 0;
  std::uint64_t struck_too_often = 0;  // of those: faults::is_struck_too_often

  std::uint64_t evaluated = 0;
  std::array<std::uint64_t, 8> pruned{};  // by Bound

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

// The plan that came nearest to fitting into memory, by the lowest (excess, index).
struct NearMiss {
  double excess_bytes = 0;
  std::uint64_t index = 0;

  bool operator==(const NearMiss&) const = default;
};

// What walking a part of the space yields. Merging is associative and commutative: any split gives the same
// whole.
struct Harvest {
  Front front;
  Counts counts;
  std::optional<NearMiss> least_memory_excess;

  void merge(const Harvest& other);
};

struct WalkOptions {
  bool brute_force = false;            // evaluate every plan, no bounds
  std::function<bool()> give_up = {};  // asked some milliseconds apart within a block; true ends the walk
};

// Adds blocks [first, last) to the harvest. `incumbent` (may be empty) prunes beside the harvest's own front:
// plans that it strictly dominates may be left out of harvest.front. That changes the work, never the front
// that results when the incumbent's own plans are merged in, be it from here or from the walk that found
// them. Thread-safe on different harvests. False: it was given up, and the harvest is worth nothing.
bool walk(const Space& space, std::uint64_t first, std::uint64_t last, const Front& incumbent,
          const WalkOptions& options, Harvest& harvest);

// The plans of the problem that no index stands for (Space::excluded), to be added once to a whole space's
// counts.
Counts excluded_counts(const Space& space);

}  // namespace trainfront::search
