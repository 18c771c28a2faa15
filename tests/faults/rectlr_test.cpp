#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "faults/matching.hpp"
#include "faults/min_cost_flow.hpp"
#include "faults/placement.hpp"
#include "faults/random.hpp"
#include "faults/rectlr.hpp"

using namespace trainfront::faults;

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

std::vector<bool> all_but(int groups, const std::vector<int>& lost) {
  std::vector<bool> alive(at(groups), true);
  for (const int group : lost) alive[at(group)] = false;
  return alive;
}

// Tries every host of every shard. Gives the least depth (0: a shard has none) and, at that depth, the fewest
// shards that were not yet among their group's first.
struct Exhaustive {
  const StackOrder& order;
  const std::vector<bool>& alive;
  int depth = 0;
  int moved = 0;

  Exhaustive(const StackOrder& present, const std::vector<bool>& survivors)
      : order(present), alive(survivors) {
    std::vector<int> load(at(order.groups), 0);
    int least = order.per_group + 1;
    try_shard(0, load, [&] { least = std::min(least, *std::max_element(load.begin(), load.end())); });
    depth = least > order.per_group ? 0 : least;
    if (depth == 0) return;
    moved = order.shards + 1;
    std::fill(load.begin(), load.end(), 0);
    count_moves(0, load, 0);
  }

 private:
  bool holds(int group, int shard, int first) const {
    const auto list = order.of(group).first(at(first));
    return std::find(list.begin(), list.end(), shard) != list.end();
  }
  void try_shard(int shard, std::vector<int>& load, const std::function<void()>& done) {
    if (shard == order.shards) return done();
    for (int group = 0; group < order.groups; ++group) {
      if (!alive[at(group)] || !holds(group, shard, order.per_group)) continue;
      ++load[at(group)];
      try_shard(shard + 1, load, done);
      --load[at(group)];
    }
  }
  void count_moves(int shard, std::vector<int>& load, int so_far) {
    if (so_far >= moved) return;
    if (shard == order.shards) {
      moved = so_far;
      return;
    }
    for (int group = 0; group < order.groups; ++group) {
      if (!alive[at(group)] || load[at(group)] == depth || !holds(group, shard, order.per_group)) continue;
      ++load[at(group)];
      count_moves(shard + 1, load, so_far + (holds(group, shard, depth) ? 0 : 1));
      --load[at(group)];
    }
  }
};

// What any decision must fulfil besides being the best.
void check_sound(const StackOrder& before, const std::vector<bool>& alive, const Decision& decision) {
  CHECK(fixed_depth(decision.order, alive) <= decision.depth);
  CHECK(fixed_depth(decision.order, alive) > 0);
  for (int group = 0; group < before.groups; ++group) {
    std::vector<int> a(before.of(group).begin(), before.of(group).end());
    std::vector<int> b(decision.order.of(group).begin(), decision.order.of(group).end());
    if (!alive[at(group)]) CHECK(a == b);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    CHECK(a == b);  // nobody gets a shard that it does not hold
  }
}

}  // namespace

TEST_CASE("a full system needs one stack and no reordering") {
  for (const int r : {1, 2, 5}) {
    const StackOrder order = initial_order(20, offsets(20, r, Placement::kGolomb));
    const Decision decision = Controller(order).decide(order, std::vector<bool>(20, true));
    CHECK(decision.phase == Phase::kFixed);
    CHECK(decision.depth == 1);
    CHECK(decision.moved == 0);
    CHECK(decision.order == order);
  }
}

TEST_CASE("three groups, two hosts a type: by hand") {
  // Offsets {0, 1}: group g computes type g, then type g - 1. Group 0 goes: type 0 is left on group 1 alone,
  // as its second stack, which two stacks collect anyhow.
  const StackOrder order = initial_order(3, {0, 1});
  const Controller controller(order);
  const Decision one = controller.decide(order, all_but(3, {0}));
  CHECK(one.phase == Phase::kFixed);
  CHECK(one.depth == 2);
  // Groups 0 and 1 both host type 0: wiped out. So it is with the others.
  CHECK(controller.decide(order, all_but(3, {0, 1})).phase == Phase::kWipeOut);
  CHECK(controller.decide(order, all_but(3, {0, 1, 2})).phase == Phase::kWipeOut);
}

TEST_CASE(
    "depth and moves are the least that any order allows, and a wipe-out is called exactly when one is") {
  Random random(11, 0);
  int reorders = 0;
  int wipe_outs = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 4 + static_cast<int>(random.below(4));
    const int r = 2 + static_cast<int>(random.below(3));
    StackOrder order = initial_order(n, offsets(n, r, Placement::kRandom, random.bits()));
    for (int group = 0; group < n; ++group) {  // any present order
      const auto first = order.order.begin() + group * r;
      for (int i = r - 1; i > 0; --i)
        std::iter_swap(first + i, first + random.below(static_cast<unsigned>(i + 1)));
    }
    std::vector<bool> alive(at(n), true);
    for (int lost = 0; lost < 1 + static_cast<int>(random.below(3)); ++lost)
      alive[random.below(static_cast<unsigned>(n))] = false;
    const Controller controller(order);
    const Decision decision = controller.decide(order, alive);
    const Exhaustive best(order, alive);
    CHECK(controller.least_depth(alive) == best.depth);
    CHECK(decision.depth == best.depth);
    CHECK((decision.phase == Phase::kWipeOut) == (best.depth == 0));
    if (best.depth == 0) {
      ++wipe_outs;
      continue;
    }
    CHECK(decision.moved == best.moved);
    reorders += decision.phase == Phase::kReorder ? 1 : 0;
    check_sound(order, alive, decision);
  }
  CHECK(reorders > 50);
  CHECK(wipe_outs > 20);
}

TEST_CASE("sub-shards: depth and moves are the least here too") {
  Random random(5, 1);
  for (int trial = 0; trial < 40; ++trial) {
    const StackOrder order = initial_order(4, offsets(4, 2, Placement::kRandom, random.bits()), 2);
    std::vector<bool> alive(4, true);
    alive[random.below(4)] = false;
    if (trial % 2 == 0) alive[random.below(4)] = false;
    const Decision decision = Controller(order).decide(order, alive);
    const Exhaustive best(order, alive);
    CHECK(decision.depth == best.depth);
    CHECK(decision.moved == best.moved);
  }
}

TEST_CASE("failure after failure, every decision collects all shards, and depth never falls") {
  for (const Placement placement : {Placement::kGolomb, Placement::kRandom, Placement::kConsecutive}) {
    for (const int sub_shards : {1, 4}) {
      const int n = 60;
      StackOrder order = initial_order(n, offsets(n, 6, placement, 3), sub_shards);
      const Controller controller(order);
      std::vector<bool> alive(at(n), true);
      Random random(9, static_cast<std::uint64_t>(sub_shards));
      int depth = sub_shards;
      for (int left = n; left > 0; --left) {
        int lost = static_cast<int>(random.below(static_cast<unsigned>(left)));
        int group = 0;
        while (!alive[at(group)] || lost-- > 0) ++group;
        alive[at(group)] = false;
        const Decision decision = controller.decide(order, alive, depth);
        CHECK(decision.depth == controller.least_depth(alive));
        if (decision.phase == Phase::kWipeOut) break;
        check_sound(order, alive, decision);
        CHECK(decision.depth >= depth);
        CHECK(decision.depth >= (n * sub_shards + left - 2) / (left - 1));
        depth = decision.depth;
        order = decision.order;
      }
      CHECK(depth > sub_shards);
    }
  }
}

TEST_CASE("matching finds the largest assignment within capacities") {
  // Shards 0, 1, 2 on group 0; shards 2, 3 on group 1. Group 0 takes two.
  Bipartite graph;
  graph.groups = 2;
  graph.begin = {0, 1, 2, 4, 5};
  graph.to = {0, 0, 0, 1, 1};
  std::vector<int> assigned(4, kUnassigned);
  CHECK(hopcroft_karp(graph, std::vector<int>{2, 1}, assigned) == 3);
  std::fill(assigned.begin(), assigned.end(), kUnassigned);
  CHECK(hopcroft_karp(graph, std::vector<int>{2, 2}, assigned) == 4);
  CHECK(assigned == std::vector<int>{0, 0, 1, 1});
}

TEST_CASE("the cheapest assignment pushes others aside where that is cheaper") {
  // Shard 0 is on group 0 (free) or 1 (cost 1); shard 1 on group 0 only (cost 5). Each group has one place.
  Bipartite graph;
  graph.groups = 2;
  graph.begin = {0, 2, 3};
  graph.to = {0, 1, 0};
  const std::vector<int> cost = {0, 1, 5};
  std::vector<int> assigned = {0, kUnassigned};
  CHECK(assign_at_least_cost(graph, std::vector<int>{1, 1}, cost, assigned) == 6);
  CHECK(assigned == std::vector<int>{1, 0});
  std::vector<int> again = {0, kUnassigned};
  CHECK(assign_at_least_cost(graph, std::vector<int>{1, 0}, cost, again) == -1);
}
