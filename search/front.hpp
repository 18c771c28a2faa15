#pragma once

#include <span>
#include <vector>

#include "search/outcome.hpp"

namespace trainfront::search {

// The plans that no other beats in both time and cost, by ascending time (and so descending cost). Of plans
// equal in both the lowest index stays. Points that are not finite never enter. What stays does not depend on
// the order in which points come, nor on how they are grouped into fronts that are merged.
class Front {
 public:
  // True if the point entered. O(log n) for a point that does not enter, O(n) for one that does.
  bool add(const Point& point);
  // Adds them all; their order is lost. O(k log k) beside one merge, however many enter.
  void add_all(std::vector<Point>& points);
  // Linear in both sizes; where the other is tiny, moves of memory alone.
  void merge(const Front& other);
  // True if a point of the front is at least as good in both and better in one, or equal with a lower index.
  bool dominates(const Point& point) const;
  // From this time on whatever costs `usd_per_s` for every second of its own length is strictly dominated by
  // the front; infinity when no time is. With rounding: safe for times above it by a relative 1e-9.
  double dominated_from(double usd_per_s) const;

  std::span<const Point> points() const { return points_; }
  bool empty() const { return points_.empty(); }
  bool operator==(const Front&) const = default;

 private:
  void append_undominated(std::span<const Point> points);

  std::vector<Point> points_;
};

}  // namespace trainfront::search
