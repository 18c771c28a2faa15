#include "engine/block_ranges.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using trainfront::engine::BlockRange;
using trainfront::engine::BlockRanges;

TEST_CASE("ranges that touch or overlap melt into one") {
  BlockRanges set;
  set.add({10, 20});
  set.add({30, 40});
  CHECK(set.ranges().size() == 2);
  set.add({20, 25});
  CHECK(set.ranges() == std::vector<BlockRange>{{10, 25}, {30, 40}});
  set.add({24, 31});
  CHECK(set.ranges() == std::vector<BlockRange>{{10, 40}});
  CHECK(set.count() == 30);
}

TEST_CASE("an empty range changes nothing") {
  BlockRanges set(BlockRange{3, 5});
  set.add({7, 7});
  set.add({9, 2});
  CHECK(set == BlockRanges(BlockRange{3, 5}));
  CHECK(BlockRanges().take(5).count() == 0);
}

TEST_CASE("taking stops at a gap") {
  BlockRanges set;
  set.add({0, 4});
  set.add({8, 10});
  CHECK(set.take(3) == BlockRange{0, 3});
  CHECK(set.take(3) == BlockRange{3, 4});
  CHECK(set.take(3) == BlockRange{8, 10});
  CHECK(set.empty());
}

TEST_CASE("ranges behave as a set of numbers does, and the complement is the rest") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    BlockRanges ranges;
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t first = random() % 90;
      const std::uint64_t last = std::min<std::uint64_t>(100, first + random() % 10);
      ranges.add({first, last});
      for (std::uint64_t n = first; n < last; ++n) numbers.insert(n);
    }
    REQUIRE(ranges.count() == numbers.size());
    const BlockRanges rest = ranges.complement(100);
    REQUIRE(rest.count() == 100 - numbers.size());
    for (std::uint64_t n = 0; n < 100; ++n) {
      REQUIRE(ranges.contains({n, n + 1}) == (numbers.count(n) == 1));
      REQUIRE(rest.contains({n, n + 1}) == (numbers.count(n) == 0));
    }
    BlockRanges both = ranges;
    both.add(rest);
    REQUIRE(both == BlockRanges(BlockRange{0, 100}));
  }
}
