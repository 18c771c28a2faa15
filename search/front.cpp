#include "search/front.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Points that are sooner added one by one than by passing over a whole front.
constexpr std::size_t kFew = 4;

bool is_finite(const Point& point) {
  return std::isfinite(point.time_s) && std::isfinite(point.cost_usd);
}

// The order in which points may be appended one after the other: of equal times the cheapest first, of equal
// plans the one that stays.
bool comes_first(const Point& a, const Point& b) {
  if (a.time_s != b.time_s) return a.time_s < b.time_s;
  if (a.cost_usd != b.cost_usd) return a.cost_usd < b.cost_usd;
  return a.index < b.index;
}

auto first_slower(const std::vector<Point>& points, double time_s) {
  return std::upper_bound(points.begin(), points.end(), time_s,
                          [](double time, const Point& point) { return time < point.time_s; });
}

}  // namespace

bool Front::dominates(const Point& point) const {
  const auto slower = first_slower(points_, point.time_s);
  if (slower == points_.begin()) return false;
  const Point& best = *std::prev(slower);  // the cheapest of those that are as fast
  if (best.cost_usd != point.cost_usd) return best.cost_usd < point.cost_usd;
  return best.time_s < point.time_s || best.index < point.index;
}

bool Front::add(const Point& point) {
  if (!is_finite(point) || dominates(point)) return false;
  const auto first = std::lower_bound(points_.begin(), points_.end(), point.time_s,
                                      [](const Point& p, double time) { return p.time_s < time; });
  auto last = first;
  while (last != points_.end() && last->cost_usd >= point.cost_usd) {
    if (*last == point) return false;
    ++last;
  }
  if (first == last) {
    points_.insert(first, point);
  } else {
    *first = point;
    points_.erase(std::next(first), last);
  }
  return true;
}

void Front::add_all(std::vector<Point>& points) {
  std::erase_if(points, [this](const Point& point) { return !is_finite(point) || dominates(point); });
  if (points.size() <= kFew) {
    for (const Point& point : points) add(point);
    return;
  }
  std::sort(points.begin(), points.end(), comes_first);
  Front fresh;
  fresh.append_undominated(points);
  merge(fresh);
}

// Of points in the order of comes_first.
void Front::append_undominated(std::span<const Point> points) {
  double least_usd = points_.empty() ? kNever : points_.back().cost_usd;
  for (const Point& point : points) {
    if (point.cost_usd >= least_usd) continue;
    least_usd = point.cost_usd;
    points_.push_back(point);
  }
}

void Front::merge(const Front& other) {
  if (other.points_.size() <= kFew) {
    for (const Point& point : other.points_) add(point);
    return;
  }
  std::vector<Point> all;
  all.reserve(points_.size() + other.points_.size());
  std::merge(points_.begin(), points_.end(), other.points_.begin(), other.points_.end(),
             std::back_inserter(all), comes_first);
  points_.clear();
  append_undominated(all);
}

double Front::dominated_from(double usd_per_s) const {
  if (points_.empty()) return kNever;
  // Both coordinates of such a plan grow with its time, so point i dominates it from max(t_i, c_i /
  // usd_per_s) on; along the front t_i rises and c_i falls: the least maximum lies where they cross.
  const auto crossing = std::partition_point(points_.begin(), points_.end(), [&](const Point& point) {
    return point.cost_usd > usd_per_s * point.time_s;
  });
  double from = crossing == points_.end() ? kNever : crossing->time_s;
  if (crossing != points_.begin() && usd_per_s > 0)
    from = std::min(from, std::prev(crossing)->cost_usd / usd_per_s);
  return from;
}

}  // namespace trainfront::search
