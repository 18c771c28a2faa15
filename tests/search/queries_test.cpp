#include "search/queries.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "problems.hpp"
#include "search/evaluate.hpp"

namespace trainfront::search {
namespace {

// Days and millions: 10 d for 100, 20 d for 40, 40 d for 30, 80 d for 28.
Front some_front() {
  Front front;
  front.add({10, 100, 0});
  front.add({20, 40, 1});
  front.add({40, 30, 2});
  front.add({80, 28, 3});
  return front;
}

Goal goal(std::optional<double> deadline_s, std::optional<double> budget_usd) {
  Goal wanted;
  wanted.deadline_s = deadline_s;
  wanted.budget_usd = budget_usd;
  return wanted;
}

}  // namespace

TEST_CASE("The cheapest within a deadline is the slowest that still meets it") {
  const Front front = some_front();
  CHECK(cheapest_within(front, 50)->index == 2);
  CHECK(cheapest_within(front, 40)->index == 2);
  CHECK(cheapest_within(front, 39.9)->index == 1);
  CHECK(cheapest_within(front, 1e9)->index == 3);
  CHECK_FALSE(cheapest_within(front, 9.9).has_value());
  CHECK_FALSE(cheapest_within(Front{}, 9.9).has_value());
}

TEST_CASE("The fastest within a budget is the dearest that it pays for") {
  const Front front = some_front();
  CHECK(fastest_within(front, 1e9)->index == 0);
  CHECK(fastest_within(front, 40)->index == 1);
  CHECK(fastest_within(front, 39.9)->index == 2);
  CHECK_FALSE(fastest_within(front, 27).has_value());
}

TEST_CASE("The knee lies where both logarithms are small") {
  // Depths below the line from 10 d to 80 d and from 100 to 28: 1 - ln 2/ln 8 - ln(40/28)/ln(100/28) = 0.387
  // for the second point, 1 - ln 4/ln 8 - ln(30/28)/ln(100/28) = 0.279 for the third.
  CHECK(knee(some_front())->index == 1);
  Front one;
  one.add({5, 5, 9});
  CHECK(knee(one)->index == 9);
  CHECK_FALSE(knee(Front{}).has_value());
  Front owned;  // the last plan costs nothing
  owned.add({10, 100, 0});
  owned.add({11, 1, 1});
  owned.add({100, 0, 2});
  CHECK(knee(owned).has_value());
}

TEST_CASE("A goal is answered by its deadline, its budget, or both at once") {
  const Front front = some_front();
  CHECK(answer(front, goal(50, {}))->index == 2);
  CHECK(answer(front, goal({}, 50))->index == 1);
  CHECK(answer(front, goal(50, 35))->index == 2);
  CHECK_FALSE(answer(front, goal(25, 35)).has_value());
  CHECK(answer(front, goal({}, {}))->index == 1);
}

TEST_CASE("The nearest miss in memory tells its stage and excess") {
  Problem problem = small_problem();
  problem.model = large_model();
  problem.gpus = {8};
  problem.layout.pp = {2};
  problem.layout.tp = {1};
  const Space space{problem};
  Harvest harvest;
  walk(space, 0, space.blocks(), {}, {}, harvest);
  REQUIRE(harvest.front.empty());
  const auto miss = memory_miss(space, harvest);
  REQUIRE(miss.has_value());
  const Outcome outcome = evaluate(space, miss->plan.index);
  CHECK(outcome.verdict == Verdict::kOutOfMemory);
  CHECK(miss->excess_bytes == outcome.memory_bytes - outcome.memory_capacity_bytes);
  CHECK(miss->stage >= 0);
  CHECK(miss->stage < 2);
}

}  // namespace trainfront::search
