#include "engine/remaining.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <numeric>
#include <set>

#include "search/walk.hpp"
#include "tests/search/random_problems.hpp"

using namespace trainfront::engine;
namespace search = trainfront::search;

namespace {

// Every block that is not done looked at by itself.
void check_against_walk(const search::Space& space, const BlockRanges& done) {
  std::map<int, std::uint64_t> plans;
  std::map<int, std::set<std::int64_t>> gpus;
  std::uint64_t all = 0;
  for (std::uint64_t number = 0; number < space.blocks(); ++number) {
    if (done.contains({number, number + 1})) continue;
    const search::Block block = space.block(number);
    search::Harvest harvest;
    search::walk(space, number, number + 1, {}, {}, harvest);
    plans[block.hardware] += harvest.counts.plans;
    gpus[block.hardware].insert(space.problem().gpus[block.gpus]);
    all += harvest.counts.plans;
  }
  const Remaining remaining = remaining_of(space, done);
  CHECK(remaining.plans == all);
  REQUIRE(remaining.parts.size() == plans.size());
  for (const Remaining::Part& part : remaining.parts) {
    CHECK(part.plans == plans[part.hardware]);
    CHECK(part.share > 0);
    CHECK(part.share <= 1);
    const std::set<std::int64_t>& left = gpus[part.hardware];
    CHECK(part.gpus == std::vector<std::int64_t>(left.begin(), left.end()));
  }
}

}  // namespace

TEST_CASE("what remains is what walking the blocks that are left would cover, by hardware and GPU count") {
  search::RandomProblems problems{61};
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    search::Problem problem = problems.next();
    // More layouts than a block holds, so that several runs over the GPU counts follow each other.
    if (i % 3 == 0) problem.layout = {};
    const search::Space space{problem};
    if (space.blocks() == 0) continue;
    BlockRanges done;
    check_against_walk(space, done);
    for (int ranges = 0; ranges < 3; ++ranges) {
      const std::uint64_t first = problems.below(space.blocks());
      done.add({first, first + 1 + problems.below(space.blocks() - first)});
      check_against_walk(space, done);
    }
    done.add({0, space.blocks()});
    CHECK(remaining_of(space, done).parts.empty());
  }
}

TEST_CASE("what remains of a billion blocks is known at once") {
  search::Problem problem = search::small_problem();
  problem.layout = {};
  problem.gpus.resize(5'000'000);
  std::iota(problem.gpus.begin(), problem.gpus.end(), std::int64_t{1});
  problem.protections = {{.scheme = trainfront::faults::Scheme::kCheckpoint}};
  const search::Space space{problem};
  REQUIRE(space.blocks() > 50'000'000);
  const auto begin = std::chrono::steady_clock::now();
  const Remaining remaining = remaining_of(space, BlockRanges({3, space.blocks() - 2}));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
  REQUIRE(remaining.parts.size() == 1);
  CHECK(remaining.parts[0].gpus == std::vector<std::int64_t>{1, 2, 3, 4'999'999, 5'000'000});
  const Remaining all = remaining_of(space, {});
  CHECK(all.plans == space.size());
  CHECK(all.share == 1);
}
