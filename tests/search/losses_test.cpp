#include "search/losses.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "random_problems.hpp"
#include "search/evaluate.hpp"

namespace trainfront::search {
namespace {

// 32 nodes that fail once a day between them, on half of the occasions by preemption.
Problem spot_problem() {
  Problem problem = small_problem();
  problem.recipe.critical_batch_tokens = 4e6;
  problem.gpus = {256};
  problem.failures.node_mtbf_s = 64 * 86400;
  problem.hardware[0].offers = {offer(24, 0, 1.0 / (64 * 24))};
  return problem;
}

std::uint64_t first_feasible(const Space& space) {
  for (std::uint64_t index = 0; index < space.size(); ++index)
    if (evaluate(space, index).verdict == Verdict::kFeasible) return index;
  FAIL("no plan is feasible");
  return 0;
}

}  // namespace

TEST_CASE("The losses of every plan sum to its time and its cost, and none is negative") {
  RandomProblems problems{51};
  int plans = 0, held = 0, preempted = 0, spared = 0, large = 0;
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    Problem problem = problems.next();
    if (i % 3 == 0) problem.failures.law.weibull_shape = i % 15 == 0 ? 0.78 : 2;
    const Space space{problem};
    for (int draw = 0; draw < 60 && space.size() > 0; ++draw) {
      const std::uint64_t index = problems.below(space.size());
      const Outcome outcome = evaluate(space, index);
      if (outcome.verdict != Verdict::kFeasible) continue;
      const Losses parts = losses(space, index);
      const double useful_s = parts.steps * parts.step_s;
      CHECK(parts.time_s() == doctest::Approx(outcome.time_to_train_s).epsilon(1e-11));
      CHECK(parts.computing_usd_per_s * outcome.time_to_train_s + parts.idle_spares_usd + parts.egress_usd ==
            doctest::Approx(outcome.cost_usd).epsilon(1e-11));
      for (const double part :
           {parts.batch_s, parts.redundancy_s, parts.patches_s, parts.checkpoints_s, parts.lost_work_s,
            parts.restarts_s, parts.preemption_s, parts.reserve_s, parts.idle_spares_usd})
        CHECK(part >= 0);
      // What the front says of a plan is in its tree.
      const double mean_s = outcome.spread.mean_s;
      CHECK(parts.reserve_s == outcome.time_to_train_s - mean_s);
      CHECK(outcome.goodput == doctest::Approx((useful_s + parts.batch_s) / mean_s));
      const double down_s = parts.checkpoints_s + parts.restarts_s;
      CHECK(down_s <= (1 - outcome.availability) * mean_s * (1 + 1e-9) + 1e-9);
      if (parts.preemption_s == 0)
        CHECK(outcome.availability == doctest::Approx(1 - down_s / mean_s).epsilon(1e-9));
      ++plans;
      held += parts.reserve_s > 0;
      preempted += parts.preemption_s > 0;
      spared += parts.idle_spares_usd > 0;
      large += parts.batch_s > 0;
    }
  }
  MESSAGE("plans " << plans << ", with a reserve " << held << ", preempted " << preempted << ", with spares "
                   << spared << ", batches that teach less " << large);
  for (const int count : {held, preempted, spared, large}) CHECK(count > 20);
}

TEST_CASE("Preemptions bear their share of what failures cost, and checkpoints stay checkpoints") {
  Problem problem = spot_problem();
  const Space spot{problem};
  const std::uint64_t index = first_feasible(spot);
  const Losses on_spot = losses(spot, index);
  CHECK(on_spot.preemption_s == doctest::Approx(on_spot.lost_work_s + on_spot.restarts_s));
  CHECK(on_spot.checkpoints_s > 0);

  problem.hardware[0].offers = {offer(24)};
  problem.failures.node_mtbf_s = 32 * 86400;  // as often, never preempted
  const Space on_demand{problem};
  const Losses owned = losses(on_demand, index);
  CHECK(owned.preemption_s == 0);
  CHECK(owned.lost_work_s == doctest::Approx(2 * on_spot.lost_work_s));
  CHECK(owned.restarts_s == doctest::Approx(2 * on_spot.restarts_s));
  CHECK(owned.checkpoints_s == doctest::Approx(on_spot.checkpoints_s));
}

TEST_CASE("A batch of a quarter of the critical one needs a quarter more steps, and they are its loss") {
  Problem problem = spot_problem();
  problem.recipe.critical_batch_tokens = 4.0 * 256 * 4096;
  const Space space{problem};
  const Losses parts = losses(space, first_feasible(space));
  CHECK(parts.batch_s == doctest::Approx(0.25 * parts.steps * parts.step_s));
}

TEST_CASE("Hot spares cost their nodes for the whole run, and no time") {
  Problem problem = spot_problem();
  problem.protections = {{.scheme = faults::Scheme::kSpares, .spares = 4}};
  const Space space{problem};
  const std::uint64_t index = first_feasible(space);
  const Outcome outcome = evaluate(space, index);
  CHECK(outcome.nodes == 36);
  CHECK(losses(space, index).idle_spares_usd == doctest::Approx(outcome.cost_usd * 4 / 36));
}

}  // namespace trainfront::search
