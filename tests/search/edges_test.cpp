#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "problems.hpp"
#include "search/evaluate.hpp"
#include "search/walk.hpp"

// Where the answer is known: the search has to find it.
namespace trainfront::search {
namespace {

using faults::Scheme;

Front front_of(const Space& space) {
  Harvest harvest;
  walk(space, 0, space.blocks(), {}, {}, harvest);
  return harvest.front;
}

// The fastest plan under protections of one kind; infinity if there is none.
double least_time_s(const Space& space, Scheme scheme) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    if (space.decode(index).protection.scheme != scheme) continue;
    const Outcome outcome = evaluate(space, index);
    if (outcome.verdict == Verdict::kFeasible) least = std::min(least, outcome.time_to_train_s);
  }
  return least;
}

// Published protections: SPARe and replication run until a type or family is lost.
std::vector<faults::Protection> published() {
  std::vector<faults::Protection> all = {{.scheme = Scheme::kCheckpoint}};
  for (int r : {2, 4, 5, 8}) all.push_back({.scheme = Scheme::kReplication, .r = r});
  for (int r = 2; r <= 12; ++r) all.push_back({.scheme = Scheme::kSpare, .r = r});
  return all;
}

// One layout: tensor 8, `stages` stages, on nodes of eight.
Problem one_layout(int layers, int stages, std::int64_t groups, std::int64_t micro_batches) {
  Problem problem = small_problem();
  problem.model = large_model();
  problem.model.layers = layers;
  problem.recipe.sequence_length = 8192;
  problem.gpus = {groups * 8 * stages};
  problem.global_batches = {groups * micro_batches};
  problem.layout.tp = {8};
  problem.layout.sp = {true};
  problem.layout.pp = {stages};
  problem.layout.zero = {0};
  problem.layout.micro_batch = {1};
  problem.layout.recompute = {costmodel::Recompute::kFull};
  problem.protections = published();
  return problem;
}

}  // namespace

TEST_CASE("Where nothing fails no plan of the front pays for redundancy") {
  Problem problem = small_problem();
  problem.failures.node_mtbf_s = std::numeric_limits<double>::infinity();
  problem.protections = published();
  problem.protections.push_back({.scheme = Scheme::kSpares, .spares = 1});
  problem.protections.push_back({.scheme = Scheme::kElastic, .k_max = -1});
  const Space space{problem};
  const Front front = front_of(space);
  REQUIRE(!front.points().empty());
  for (const Point& point : front.points()) {
    CHECK(space.decode(point.index).protection.scheme == Scheme::kCheckpoint);
    CHECK(evaluate(space, point.index).goodput == doctest::Approx(1));
  }
}

TEST_CASE("Of thousands of equal plans the first one stays, in any order of the blocks") {
  Problem problem = small_problem();
  problem.hardware[0].offers.assign(1500, offer(24));
  problem.protections.assign(3, {.scheme = Scheme::kCheckpoint});  // equal too
  const Space space{problem};
  const Front front = front_of(space);
  REQUIRE(!front.points().empty());
  for (const Point& point : front.points())
    CHECK(point.index % (space.problem().protections.size() * 1500) == 0);
  for (const bool brute_force : {false, true}) {
    Harvest backwards;
    for (std::uint64_t block = space.blocks(); block-- > 0;)
      walk(space, block, block + 1, {}, {.brute_force = brute_force}, backwards);
    CHECK(backwards.front == front);
  }
}

TEST_CASE("On a cluster like Llama 3's checkpointing wins, effective for over 90 % of the time") {
  // 16,384 GPUs, 419 unexpected interruptions in 54 days (arXiv 2407.21783, section 3.3.4).
  Problem problem = one_layout(80, 16, 128, 16);
  problem.recipe.tokens = 15e12;
  problem.failures.node_mtbf_s = 54 * 86'400.0 * 2048 / 419;
  problem.failures.storage_bytes_per_s = 2e12;
  const Space space{problem};
  const Front front = front_of(space);
  REQUIRE(front.points().size() == 1);
  const Outcome best = evaluate(space, front.points()[0].index);
  CHECK(space.decode(front.points()[0].index).protection.scheme == Scheme::kCheckpoint);
  CHECK(best.goodput > 0.90);
  CHECK(best.goodput < 0.97);
  CHECK(least_time_s(space, Scheme::kSpare) > 1.3 * best.time_to_train_s);
  CHECK(least_time_s(space, Scheme::kReplication) > 1.3 * best.time_to_train_s);
}

TEST_CASE("600k GPUs that fail every five minutes and restart in an hour: SPARe takes 40 to 50 % less") {
  // 200 groups of 3,000 GPUs, saves of 60 s, steps of about a minute (arXiv 2603.00357).
  Problem problem = one_layout(125, 125, 200, 3000);
  problem.recipe.sequence_length = 12'288;
  problem.layout.cp = {3};
  problem.gpus = {600'000};
  problem.failures = {};
  problem.failures.law = {0.78, false, true};
  problem.failures.node_mtbf_s = 300.0 * 75'000;
  problem.failures.start_fixed_s = 3600;
  problem.failures.blocking_fixed_s = 60;
  problem.hardware[0].offers = {offer(30)};
  problem.recipe.tokens = 10'000.0 * 600'000 * 12'288;
  const Space space{problem};
  const Front front = front_of(space);
  REQUIRE(front.points().size() == 1);
  const Plan plan = space.decode(front.points()[0].index);
  CHECK(plan.protection.scheme == Scheme::kSpare);
  CHECK(plan.protection.r >= 7);
  CHECK(plan.protection.r <= 11);
  const Outcome best = evaluate(space, front.points()[0].index);
  MESSAGE("step ", best.step_time_s, " s, r = ", plan.protection.r, ", SPARe over failure-free ",
          1 / best.goodput, ", over replication ",
          best.time_to_train_s / least_time_s(space, Scheme::kReplication));
  const double saved = 1 - best.time_to_train_s / least_time_s(space, Scheme::kReplication);
  CHECK(saved > 0.40);
  CHECK(saved < 0.50);
  CHECK(least_time_s(space, Scheme::kCheckpoint) > 5 * best.time_to_train_s);
}

TEST_CASE("A quick tier and rejoining win where they should, and their plans say so") {
  Problem problem = one_layout(80, 16, 128, 16);
  problem.recipe.tokens = 15e12;
  problem.failures.node_mtbf_s = 54 * 86'400.0 * 2048 / 419;
  problem.failures.blocking_fixed_s = 0;
  problem.failures.storage_bytes_per_s = 20e9;  // a slow file system: saves of most of a minute
  problem.failures.local = {1e9, 0.2};
  problem.failures.peer = {10e9, 0.05};
  problem.failures.node_loss_share = 0.77;
  problem.failures.repair_s = 1800;
  problem.protections.clear();
  for (const auto tier :
       {faults::CheckpointTier::kShared, faults::CheckpointTier::kLocal, faults::CheckpointTier::kPeer})
    problem.protections.push_back({.scheme = Scheme::kCheckpoint, .tier = tier});
  const Space tiers{problem};
  const Front by_tier = front_of(tiers);
  REQUIRE(by_tier.points().size() == 1);
  const Outcome best = evaluate(tiers, by_tier.points()[0].index);
  CHECK(tiers.decode(by_tier.points()[0].index).protection.tier == faults::CheckpointTier::kPeer);
  CHECK(best.shared_interval_s > 10 * best.checkpoint_interval_s);

  problem.protections.push_back({.scheme = Scheme::kElastic, .k_max = -1});
  problem.protections.push_back({.scheme = Scheme::kElastic, .rejoins = true});
  const Space all{problem};
  const Front front = front_of(all);
  REQUIRE(front.points().size() == 1);
  CHECK(all.decode(front.points()[0].index).protection.rejoins);
  CHECK(evaluate(all, front.points()[0].index).goodput > best.goodput);
}

}  // namespace trainfront::search
