#include "search/walk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "costmodel/memory.hpp"
#include "random_problems.hpp"
#include "search/evaluate.hpp"

namespace trainfront::search {
namespace {

// Every plan by itself, from scratch.
Harvest one_by_one(const Space& space) {
  Harvest harvest;
  harvest.counts.plans = space.size();
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const Outcome outcome = evaluate(space, index);
    switch (outcome.verdict) {
      case Verdict::kIllegal:
        ++harvest.counts.illegal[static_cast<std::size_t>(outcome.rule)];
        break;
      case Verdict::kOutOfMemory: {
        ++harvest.counts.out_of_memory;
        const double excess = outcome.memory_bytes - outcome.memory_capacity_bytes;
        if (!harvest.least_memory_excess || excess < harvest.least_memory_excess->excess_bytes)
          harvest.least_memory_excess = NearMiss{excess, index};
        break;
      }
      case Verdict::kNotFinite:
        ++harvest.counts.non_finite;
        harvest.counts.struck_too_often += outcome.is_struck_too_often ? 1 : 0;
        ++harvest.counts.evaluated;
        break;
      case Verdict::kFeasible:
        ++harvest.counts.evaluated;
        harvest.front.add({outcome.time_to_train_s, outcome.cost_usd, index});
        break;
    }
  }
  return harvest;
}

void check_same_answer(const Harvest& got, const Harvest& want) {
  CHECK(got.front == want.front);
  CHECK(got.counts.plans == want.counts.plans);
  CHECK(got.counts.illegal == want.counts.illegal);
  CHECK(got.counts.out_of_memory == want.counts.out_of_memory);
  CHECK(got.counts.non_finite == want.counts.non_finite);
  CHECK(got.counts.struck_too_often == want.counts.struck_too_often);
  CHECK(got.least_memory_excess == want.least_memory_excess);
  const auto& pruned = got.counts.pruned;
  CHECK(got.counts.evaluated + std::accumulate(pruned.begin(), pruned.end(), std::uint64_t{0}) ==
        want.counts.evaluated);
}

std::uint64_t sum_of_reasons(const Counts& counts) {
  return std::accumulate(counts.illegal.begin(), counts.illegal.end(), counts.out_of_memory);
}

Harvest walk_all(const Space& space, bool brute_force) {
  Harvest harvest;
  walk(space, 0, space.blocks(), {}, {.brute_force = brute_force}, harvest);
  return harvest;
}

constexpr int kProblems = 90;

}  // namespace

TEST_CASE(
    "A walk gives the front and the counts of evaluating every plan by itself, with bounds and without") {
  RandomProblems problems{1};
  std::uint64_t feasible = 0, out_of_memory = 0, non_finite = 0, struck = 0, illegal = 0, pruned = 0;
  std::uint64_t pruned_with_probability = 0;
  for (int i = 0; i < kProblems; ++i) {
    CAPTURE(i);
    Problem problem = problems.next_of_any_law();
    if (i % 4 == 0) {  // steps are struck again and again
      problem.failures.node_mtbf_s = i % 8 == 0 ? 60 : 600;
      for (HardwareClass& kind : problem.hardware) kind.node_mtbf_s = 0;
    }
    const Space space{problem};
    const Harvest want = one_by_one(space);
    const Harvest brute = walk_all(space, true);
    check_same_answer(brute, want);
    CHECK(brute.counts.evaluated == want.counts.evaluated);
    const Harvest bounded = walk_all(space, false);
    check_same_answer(bounded, want);
    CHECK(sum_of_reasons(bounded.counts) + want.counts.evaluated == space.size());
    feasible += want.counts.evaluated - want.counts.non_finite;
    out_of_memory += want.counts.out_of_memory;
    non_finite += want.counts.non_finite;
    struck += want.counts.struck_too_often;
    illegal += sum_of_reasons(want.counts) - want.counts.out_of_memory;
    pruned += want.counts.evaluated - bounded.counts.evaluated;
    if (space.problem().goal.probability)
      pruned_with_probability += want.counts.evaluated - bounded.counts.evaluated;
  }
  MESSAGE("plans feasible " << feasible << ", out of memory " << out_of_memory << ", not finite "
                            << non_finite << " (" << struck << " struck too often), illegal " << illegal
                            << ", pruned " << pruned);
  CHECK(feasible > 1000);
  CHECK(out_of_memory > 1000);
  CHECK(non_finite > 1000);
  CHECK(struck > 100);
  CHECK(illegal > 1000);
  CHECK(pruned > 1000);
  CHECK(pruned_with_probability > 1000);
}

TEST_CASE("Any split into ranges, walked in any order, with any incumbents, gives the same answer") {
  RandomProblems problems{2};
  for (int i = 0; i < kProblems; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    const Harvest whole = walk_all(space, true);
    std::vector<std::uint64_t> cuts = {0, space.blocks()};
    for (int cut = 0; cut < 3; ++cut) cuts.push_back(problems.below(space.blocks() + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> order(cuts.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[problems.below(k)]);
    Front incumbent;
    std::vector<Harvest> parts;
    for (std::size_t part : order) {
      Harvest harvest;
      walk(space, cuts[part], cuts[part + 1], incumbent, {}, harvest);
      if (problems.one_in(2)) incumbent.merge(harvest.front);
      parts.push_back(std::move(harvest));
    }
    Harvest merged;
    for (const Harvest& part : parts) merged.merge(part);
    check_same_answer(merged, whole);
    check_same_answer(walk_all(space, false), whole);
  }
}

TEST_CASE("The final front as incumbent changes nothing but the work") {
  RandomProblems problems{3};
  for (int i = 0; i < kProblems; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    const Harvest whole = walk_all(space, true);
    Harvest again;
    walk(space, 0, space.blocks(), whole.front, {}, again);
    again.front.merge(whole.front);
    check_same_answer(again, whole);
  }
}

TEST_CASE("Where nothing fits the walk counts it and names the smallest excess") {
  Problem problem = small_problem();
  problem.model = large_model();
  problem.gpus = {8};
  problem.layout.tp = {1};
  problem.layout.pp = {1};
  const Space space{problem};
  const Harvest harvest = walk_all(space, false);
  CHECK(harvest.front.empty());
  CHECK(harvest.counts.out_of_memory == space.size());
  REQUIRE(harvest.least_memory_excess.has_value());
  // 70.55e9 parameters whole on a GPU: 6 bytes each and an eighth of 12 more under the distributed optimizer.
  CHECK(harvest.least_memory_excess->excess_bytes > 70.55e9 * 7.5 - 80e9);
}

TEST_CASE("Equal offers tie: the first one stays") {
  Problem problem = small_problem();
  problem.hardware[0].offers = {offer(24), offer(24), offer(24)};
  const Space space{problem};
  const Harvest harvest = walk_all(space, false);
  REQUIRE_FALSE(harvest.front.empty());
  for (const Point& point : harvest.front.points()) CHECK(space.decode(point.index).offer == 0);
}

TEST_CASE("A space of one plan has that plan as its front") {
  Problem problem = small_problem();
  problem.gpus = {16};
  problem.layout.tp = {2};
  problem.layout.pp = {1};
  problem.layout.zero = {1};
  problem.layout.micro_batch = {1};
  problem.layout.sp = {true};
  problem.hardware[0].offers.resize(1);
  const Space space{problem};
  REQUIRE(space.size() == 1);
  const Harvest harvest = walk_all(space, false);
  REQUIRE(harvest.front.points().size() == 1);
  CHECK(harvest.front.points()[0].index == 0);
  CHECK(harvest.front.points()[0].time_s == evaluate(space, 0).time_to_train_s);
}

}  // namespace trainfront::search
