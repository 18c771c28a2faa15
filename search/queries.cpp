#include "search/queries.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/memory.hpp"

namespace trainfront::search {

std::optional<Point> cheapest_within(const Front& front, double deadline_s) {
  const auto points = front.points();
  const auto late = std::partition_point(points.begin(), points.end(),
                                         [&](const Point& point) { return point.time_s <= deadline_s; });
  if (late == points.begin()) return std::nullopt;
  return *std::prev(late);
}

std::optional<Point> fastest_within(const Front& front, double budget_usd) {
  const auto points = front.points();
  const auto affordable = std::partition_point(
      points.begin(), points.end(), [&](const Point& point) { return point.cost_usd > budget_usd; });
  if (affordable == points.end()) return std::nullopt;
  return *affordable;
}

std::optional<Point> knee(const Front& front) {
  const auto points = front.points();
  if (points.empty()) return std::nullopt;
  const Point& fastest = points.front();
  const Point& cheapest = points.back();
  // A plan on owned nodes may cost nothing; the logarithm is taken of a cost that is small beside the others.
  const auto log_cost = [&](double usd) { return std::log(std::max(usd, fastest.cost_usd * 1e-9)); };
  const double span_time = std::log(cheapest.time_s) - std::log(fastest.time_s);
  const double span_cost = log_cost(fastest.cost_usd) - log_cost(cheapest.cost_usd);
  if (!(span_time > 0) || !(span_cost > 0)) return cheapest;
  Point best = cheapest;
  double best_depth = 0;
  for (const Point& point : points) {
    const double time = (std::log(point.time_s) - std::log(fastest.time_s)) / span_time;
    const double cost = (log_cost(point.cost_usd) - log_cost(cheapest.cost_usd)) / span_cost;
    const double depth = 1.0 - time - cost;
    if (depth > best_depth) {
      best_depth = depth;
      best = point;
    }
  }
  return best;
}

std::optional<Point> answer(const Front& front, const Goal& goal) {
  if (goal.deadline_s) {
    const auto point = cheapest_within(front, *goal.deadline_s);
    if (point && goal.budget_usd && point->cost_usd > *goal.budget_usd) return std::nullopt;
    return point;
  }
  if (goal.budget_usd) return fastest_within(front, *goal.budget_usd);
  return knee(front);
}

std::optional<MemoryMiss> memory_miss(const Space& space, const Harvest& harvest) {
  if (!harvest.least_memory_excess) return std::nullopt;
  MemoryMiss miss;
  miss.plan = space.decode(harvest.least_memory_excess->index);
  miss.excess_bytes = harvest.least_memory_excess->excess_bytes;
  const Problem& problem = space.problem();
  miss.stage = costmodel::memory_use(problem.model, problem.recipe, miss.plan.layout, miss.plan.global_batch)
                   .worst_stage;
  miss.capacity_bytes = costmodel::usable_memory_bytes(
      problem.hardware[static_cast<std::size_t>(miss.plan.hardware)].hardware.device);
  return miss;
}

}  // namespace trainfront::search
