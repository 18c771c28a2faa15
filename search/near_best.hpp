#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "search/front.hpp"
#include "search/space.hpp"

namespace trainfront::search {

// By what a plan is judged beside the best one: what the goal leaves open.
enum class Measure : std::uint8_t {
  kCost,  // a deadline is set
  kTime,  // a budget is set
  kBoth,  // neither: the larger of both ratios
};

// Device kind, tp, cp, pp and ep: plans that share them are the same way to spread the model.
using Kind = std::array<int, 5>;

// Which plans are near the best one: they keep the goal and are no more than `slack` (a share) worse.
struct Vicinity {
  Point best;
  Kind kind{};  // of the best plan
  Measure measure = Measure::kBoth;
  double most_time_s = 0;
  double most_cost_usd = 0;

  double worse_by(const Point& point) const;
};
Vicinity vicinity(const Space& space, const Point& best, const Goal& goal, double slack);

struct Neighbour {
  Point point;
  double worse_by = 0;  // share
};

// The best plan of every kind near the best of all. Of equals the fastest, then the cheapest, then the lowest
// index: the same for any split of the space and any order.
class Neighbours {
 public:
  explicit Neighbours(const Vicinity& around) : around_{around} {}

  const Vicinity& around() const { return around_; }
  void add(const Kind& kind, const Point& point);
  void merge(const Neighbours& other);
  // The nearest first, without the best plan's own kind, at most so many.
  std::vector<Neighbour> nearest(std::size_t most) const;

 private:
  Vicinity around_;
  std::map<Kind, Neighbour> best_of_kind_;
};

// Adds what blocks [first, last) hold of the vicinity. Exact; its bounds are the vicinity's own limits.
// Thread-safe on different Neighbours.
void survey(const Space& space, std::uint64_t first, std::uint64_t last, Neighbours& neighbours);

}  // namespace trainfront::search
