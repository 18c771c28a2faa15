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

// The plan that came nearest to fitting into memory, in words' terms.
struct MemoryMiss {
  Plan plan;
  int stage = 0;  // the worst
  double excess_bytes = 0;
  double capacity_bytes = 0;
};
std::optional<MemoryMiss> memory_miss(const Space& space, const Harvest& harvest);

}  // namespace trainfront::search
