#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/front.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::search {

// Questions to a finished front. Points are copies of the front's; none: no plan is good enough.

// The cheapest plan that ends by `deadline_s`.
std::optional<Point> cheapest_within(const Front& front, double deadline_s);

// The fastest plan that costs `budget_usd` at most.
std::optional<Point> fastest_within(const Front& front, double budget_usd);

// Where the front bends: the point farthest below the line between the front's ends, both axes logarithmic.
// Of a front of one or two points the cheapest.
std::optional<Point> knee(const Front& front);

// The plan to recommend for a goal: the cheapest within the deadline (and the budget), the fastest within the
// budget if only that is set, the knee without either.
std::optional<Point> answer(const Front& front, const Goal& goal);

// Plans on the same GPUs, offer and protection as `best` that differ in how the model is spread, the fastest
// first, at most `most`, none slower than (1 + slack) times the best. Of plans that share tp, cp, pp and ep
// the best one stands for all. Evaluates every layout: milliseconds to seconds.
struct Neighbour {
  Point point;
  double slower_by = 0;  // share of the best plan's time
};
std::vector<Neighbour> near_best(const Space& space, std::uint64_t best, double slack, std::size_t most);

// The plan that came nearest to fitting into memory, in words' terms.
struct MemoryMiss {
  Plan plan;
  int stage = 0;  // the worst
  double excess_bytes = 0;
  double capacity_bytes = 0;
};
std::optional<MemoryMiss> memory_miss(const Space& space, const Harvest& harvest);

}  // namespace trainfront::search
