#include "search/near_best.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "random_problems.hpp"
#include "search/evaluate.hpp"
#include "search/queries.hpp"
#include "search/walk.hpp"

namespace trainfront::search {
namespace {

Kind kind_of(const Plan& plan) {
  return {plan.hardware, plan.layout.tp, plan.layout.cp, plan.layout.pp, plan.layout.ep};
}

struct Feasible {
  Point point;
  Kind kind;
};

std::vector<Feasible> feasible_plans(const Space& space) {
  std::vector<Feasible> all;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const Outcome outcome = evaluate(space, index);
    if (outcome.verdict == Verdict::kFeasible)
      all.push_back({{outcome.time_to_train_s, outcome.cost_usd, index}, kind_of(space.decode(index))});
  }
  return all;
}

// The definition, plan by plan.
std::vector<Point> nearest_one_by_one(const std::vector<Feasible>& plans, const Vicinity& around) {
  std::map<Kind, Feasible> best;
  const auto nearer = [&](const Point& a, const Point& b) {
    if (around.worse_by(a) != around.worse_by(b)) return around.worse_by(a) < around.worse_by(b);
    if (a.time_s != b.time_s) return a.time_s < b.time_s;
    return a.cost_usd != b.cost_usd ? a.cost_usd < b.cost_usd : a.index < b.index;
  };
  for (const Feasible& plan : plans) {
    if (plan.point.time_s > around.most_time_s || plan.point.cost_usd > around.most_cost_usd) continue;
    if (plan.kind == around.kind) continue;
    const auto [entry, is_new] = best.try_emplace(plan.kind, plan);
    if (!is_new && nearer(plan.point, entry->second.point)) entry->second = plan;
  }
  std::vector<Point> points;
  for (const auto& [kind, plan] : best) points.push_back(plan.point);
  std::sort(points.begin(), points.end(), nearer);
  return points;
}

std::vector<Point> points_of(const std::vector<Neighbour>& neighbours) {
  std::vector<Point> points;
  for (const Neighbour& neighbour : neighbours) points.push_back(neighbour.point);
  return points;
}

Goal goal_for(const Front& front, std::uint64_t which) {
  const Point& middle = front.points()[front.points().size() / 2];
  Goal goal;
  if (which % 4 == 1 || which % 4 == 3) goal.deadline_s = middle.time_s * 1.1;
  if (which % 4 == 2 || which % 4 == 3) goal.budget_usd = middle.cost_usd * 1.1;
  return goal;
}

}  // namespace

TEST_CASE("The plans near the best are those that evaluating every plan finds, for any split and order") {
  RandomProblems problems{51};
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    const std::vector<Feasible> plans = feasible_plans(space);
    Front front;
    for (const Feasible& plan : plans) front.add(plan.point);
    if (front.empty()) continue;
    const Goal goal = goal_for(front, i);
    const auto best = answer(front, goal);
    if (!best) continue;
    const double slack = i % 3 == 0 ? 0.05 : 1.0;
    const Vicinity around = vicinity(space, *best, goal, slack);
    const std::vector<Point> want = nearest_one_by_one(plans, around);

    Neighbours whole(around);
    survey(space, 0, space.blocks(), whole);
    CHECK(points_of(whole.nearest(1000)) == want);

    const std::uint64_t cut = problems.below(space.blocks() + 1);
    Neighbours later(around), sooner(around);
    survey(space, cut, space.blocks(), later);
    survey(space, 0, cut, sooner);
    later.merge(sooner);
    CHECK(points_of(later.nearest(1000)) == want);
    const auto two = whole.nearest(2);
    CHECK(two.size() == std::min<std::size_t>(2, want.size()));
    for (const Neighbour& neighbour : two) CHECK(neighbour.worse_by <= slack * (1 + 1e-9));
    found += want.size();
  }
  CHECK(found > 50);
}

TEST_CASE("A plan is judged by what its goal leaves open") {
  Vicinity around;
  around.best = {100, 1000, 0};
  around.measure = Measure::kCost;
  CHECK(around.worse_by({150, 1100, 1}) == doctest::Approx(0.1));
  around.measure = Measure::kTime;
  CHECK(around.worse_by({150, 1100, 1}) == doctest::Approx(0.5));
  around.measure = Measure::kBoth;
  CHECK(around.worse_by({150, 1100, 1}) == doctest::Approx(0.5));
  CHECK(around.worse_by({90, 1100, 1}) == doctest::Approx(0.1));
}

}  // namespace trainfront::search
