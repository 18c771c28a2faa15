#pragma once

#include <span>
#include <vector>

#include "search/outcome.hpp"

namespace trainfront::search {

// The plans that no other beats in both time and cost, by ascending time (and so descending cost). Of plans equal
// in both the lowest index stays. Points that are not finite never enter.
class Front {
 public:
  // True if the point entered.
  bool add(const Point& point);
  void merge(const Front& other);
  // True if a point of the front is at least as good in both and better in one, or equal with a lower index.
  bool dominates(const Point& point) const;

  std::span<const Point> points() const { return points_; }
  bool empty() const { return points_.empty(); }

 private:
  std::vector<Point> points_;
};

}  // namespace trainfront::search
