#include "search/front.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/sanitized.hpp"

namespace trainfront::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Front front_of(const std::vector<Point>& points) {
  Front front;
  for (const Point& point : points) front.add(point);
  return front;
}

bool beats(const Point& a, const Point& b) {
  if (a.time_s == b.time_s && a.cost_usd == b.cost_usd) return a.index < b.index;
  return a.time_s <= b.time_s && a.cost_usd <= b.cost_usd;
}

// The definition: the points that no other beats, by time.
std::vector<Point> undominated(const std::vector<Point>& points) {
  std::vector<Point> left;
  for (const Point& point : points) {
    if (!std::isfinite(point.time_s) || !std::isfinite(point.cost_usd)) continue;
    if (std::none_of(points.begin(), points.end(), [&](const Point& other) {
          return std::isfinite(other.time_s) && std::isfinite(other.cost_usd) && beats(other, point);
        }))
      left.push_back(point);
  }
  std::sort(left.begin(), left.end(), [](const Point& a, const Point& b) { return a.time_s < b.time_s; });
  return left;
}

// Few different values, so that ties abound.
std::vector<Point> random_points(std::mt19937_64& random, std::size_t count) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    Point point{static_cast<double>(random() % 12), static_cast<double>(random() % 12), i};
    if (random() % 20 == 0) point.time_s = kInfinity;
    if (random() % 20 == 0) point.cost_usd = std::nan("");
    points.push_back(point);
  }
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

}  // namespace

TEST_CASE("A front keeps what no other point beats, the fastest first") {
  const Front front = front_of({{5, 5, 0}, {1, 9, 1}, {9, 1, 2}, {6, 6, 3}, {5, 7, 4}, {1, 9, 5}});
  CHECK(std::vector<Point>(front.points().begin(), front.points().end()) ==
        std::vector<Point>{{1, 9, 1}, {5, 5, 0}, {9, 1, 2}});
}

TEST_CASE("A point that beats several takes their place") {
  Front front = front_of({{2, 9, 0}, {4, 7, 1}, {6, 5, 2}, {8, 3, 3}});
  CHECK(front.add({3, 4, 4}));
  CHECK(std::vector<Point>(front.points().begin(), front.points().end()) ==
        std::vector<Point>{{2, 9, 0}, {3, 4, 4}, {8, 3, 3}});
}

TEST_CASE("Of equal points the lowest index stays, in whatever order they come") {
  Front front = front_of({{2, 2, 7}});
  CHECK_FALSE(front.add({2, 2, 9}));
  CHECK(front.add({2, 2, 3}));
  CHECK_FALSE(front.add({2, 2, 3}));
  CHECK(front.points()[0].index == 3);
  CHECK(front.dominates({2, 2, 4}));
  CHECK_FALSE(front.dominates({2, 2, 3}));
}

TEST_CASE("Points that are not finite never enter") {
  Front front;
  CHECK_FALSE(front.add({kInfinity, 1, 0}));
  CHECK_FALSE(front.add({1, kInfinity, 1}));
  CHECK_FALSE(front.add({std::nan(""), 1, 2}));
  CHECK(front.empty());
}

TEST_CASE("A front is the set of undominated points, however it is put together") {
  std::mt19937_64 random{11};
  for (int round = 0; round < 300; ++round) {
    const auto points = random_points(random, random() % 60);
    const auto want = undominated(points);
    const Front whole = front_of(points);
    CHECK(std::vector<Point>(whole.points().begin(), whole.points().end()) == want);
    std::vector<Front> parts(1 + random() % 5);
    for (const Point& point : points) parts[random() % parts.size()].add(point);
    Front merged;
    for (const Front& part : parts) merged.merge(part);
    CHECK(merged == whole);
    Front at_once = parts[0];
    auto rest = points;
    at_once.add_all(rest);
    CHECK(at_once == whole);
    for (const Point& point : points) {
      if (!std::isfinite(point.time_s) || !std::isfinite(point.cost_usd)) continue;
      const bool kept = std::find(want.begin(), want.end(), point) != want.end();
      CHECK(whole.dominates(point) != kept);
    }
  }
}

TEST_CASE("Of thousands of equal points one stays, whatever way they come") {
  std::vector<Point> ties;
  for (std::uint64_t i = 0; i < 5000; ++i) ties.push_back({3, 4, 5000 - i});
  for (std::uint64_t i = 0; i < 5000; ++i) ties.push_back({3, 5, i});  // as fast, dearer
  for (std::uint64_t i = 0; i < 5000; ++i) ties.push_back({4, 4, i});  // as dear, slower
  Front front;
  front.add({9, 1, 7});
  front.add_all(ties);
  CHECK(std::vector<Point>(front.points().begin(), front.points().end()) ==
        std::vector<Point>{{3, 4, 1}, {9, 1, 7}});
}

TEST_CASE("A front of a million points is built from pieces, merged and asked") {
  constexpr std::uint64_t kPoints = kSanitized ? 200'000 : 1'000'000;
  constexpr std::uint64_t kStride = 611'953;  // prime to the number of points: they come in no order
  const auto point = [](std::uint64_t i) {
    return Point{static_cast<double>(i + 1), static_cast<double>(2 * kPoints - i), i};
  };
  Front even, odd;
  std::vector<Point> piece;
  int pieces = 0;
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    const std::uint64_t number = i * kStride % kPoints;
    piece.push_back(point(number));
    piece.push_back({piece.back().time_s + 0.5, piece.back().cost_usd, number});  // dominated
    if (piece.size() < 50'000) continue;
    (pieces++ % 2 == 0 ? even : odd).add_all(piece);
    piece.clear();
  }
  REQUIRE(even.points().size() > kPoints / 3);
  REQUIRE(odd.points().size() > kPoints / 3);
  Front whole = even;
  whole.merge(odd);
  Front other_way = odd;
  other_way.merge(even);
  CHECK(whole == other_way);
  REQUIRE(whole.points().size() == kPoints);
  for (std::uint64_t i = 0; i < kPoints; i += 997) CHECK(whole.points()[i] == point(i));
  whole.merge(Front{});
  CHECK(whole.points().size() == kPoints);
  // On the ray of 1 dollar a second plans are dominated from where 2 kPoints - i passes below i + 1.
  CHECK(whole.dominated_from(1) == doctest::Approx(kPoints).epsilon(1e-5));
}

TEST_CASE("A dominated point added later removes nothing, an undominated one only what it beats") {
  std::mt19937_64 random{12};
  for (int round = 0; round < 100; ++round) {
    Front front = front_of(random_points(random, 30));
    const std::vector<Point> before(front.points().begin(), front.points().end());
    const Point extra{static_cast<double>(random() % 12), static_cast<double>(random() % 12), 1000};
    front.add(extra);
    for (const Point& point : before) {
      const bool still =
          std::find(front.points().begin(), front.points().end(), point) != front.points().end();
      CHECK(still != beats(extra, point));
    }
  }
}

TEST_CASE("From dominated_from on, plans that cost so much a second are strictly dominated, and not before") {
  std::mt19937_64 random{13};
  std::uniform_real_distribution<double> uniform{0.1, 10};
  CHECK(Front{}.dominated_from(1) == kInfinity);
  for (int round = 0; round < 200; ++round) {
    Front front;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const double x = uniform(random);
      front.add({x, uniform(random) / x, i});
    }
    const double usd_per_s = round == 0 ? 0 : uniform(random) * uniform(random) / 10;
    const double from = front.dominated_from(usd_per_s);
    if (usd_per_s == 0) {
      CHECK(from == kInfinity);  // nothing on this front is free
      continue;
    }
    const double later = from * (1 + 1e-9);
    CHECK(front.dominates({later, usd_per_s * later, 0}));
    const double sooner = from * (1 - 1e-9);
    CHECK_FALSE(front.dominates({sooner, usd_per_s * sooner, 1000}));
  }
  Front owned = front_of({{5, 0, 0}, {2, 8, 1}});
  CHECK(owned.dominated_from(0) == 5);
}

}  // namespace trainfront::search
