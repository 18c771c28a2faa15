#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/goodput.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/spare_pool.hpp"
#include "faults/spread.hpp"

using namespace trainfront::faults;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const StepModel kStep{0.5, 6};

struct Case {
  Protection protection;
  double group_mtbf_s;
};

std::vector<Case> cases() {
  Protection elastic{Scheme::kElastic};
  elastic.k_max = 8;
  Protection parts{Scheme::kSpare, 6};
  parts.sub_shards = 4;
  parts.k_max = 10;
  return {{{Scheme::kCheckpoint}, 64 * 6000.0},
          {{Scheme::kReplication, 2}, 64 * 2000.0},
          {{Scheme::kSpare, 4}, 64 * 2000.0},
          {parts, 64 * 2000.0},
          {elastic, 64 * 3000.0}};
}

Environment environment_of(const Case& c) {
  return {c.group_mtbf_s, 600, 15, 20, 0.2};
}

}  // namespace

TEST_CASE("the loss tree sums to the time, and no part is negative") {
  for (const Case& c : cases()) {
    for (const double factor : {0.2, 1.0, 30.0, kInfinity}) {
      Environment environment = environment_of(c);
      environment.group_mtbf_s *= factor;
      const CycleTable table = cycle_table(64, c.protection, {});
      const RunTime run = run_time(table, kStep, environment, 1e5);
      const LossTree tree = loss_tree(table, kStep, environment, 1e5);
      REQUIRE(std::isfinite(run.time_s));
      CHECK(tree.total_s() == doctest::Approx(run.time_s).epsilon(1e-9));
      CHECK(tree.useful_s == doctest::Approx(6.5e5));
      for (const double part :
           {tree.redundancy_s, tree.patches_s, tree.checkpoints_s, tree.lost_work_s, tree.restarts_s}) {
        CHECK(part >= -1e-6 * run.time_s);
      }
    }
  }
  const Environment rare{8e7, 600, 15, 0, 0};
  const CycleTable none = cycle_table(8, {Scheme::kNone}, {});
  CHECK(loss_tree(none, kStep, rare, 1e5).total_s() ==
        doctest::Approx(run_time(none, kStep, rare, 1e5).time_s));
}

TEST_CASE("the loss tree is that of the simulated runs") {
  for (const Case& c : cases()) {
    Simulation setup;
    setup.units = 64;
    setup.protection = c.protection;
    setup.step = kStep;
    setup.environment = environment_of(c);
    setup.steps = 150'000;
    const CycleTable table = cycle_table(64, c.protection, {});
    setup.checkpoint_every = best_checkpoint_steps(table, kStep, setup.environment);
    const LossTree tree = loss_tree(table, kStep, setup.environment, static_cast<double>(setup.steps));
    const SimulatedRun run = simulate(setup, 0);
    REQUIRE(run.finished);
    CAPTURE(static_cast<int>(c.protection.scheme));
    const double percent = run.time_s / 100;
    CHECK(std::abs(tree.useful_s - run.useful_s) < percent);
    CHECK(std::abs(tree.redundancy_s - run.redundancy_s) < percent);
    CHECK(std::abs(tree.patches_s - run.patches_s) < percent);
    CHECK(std::abs(tree.checkpoints_s - run.checkpoints_s) < percent);
    CHECK(std::abs(tree.lost_work_s - run.lost_work_s) < percent);
    CHECK(std::abs(tree.restarts_s - run.restarts_s) < percent);
  }
}

TEST_CASE("quantiles of the time meet those of simulated runs") {
  for (const Case& c : cases()) {
    Simulation setup;
    setup.units = 64;
    setup.protection = c.protection;
    setup.step = kStep;
    setup.environment = environment_of(c);
    const CycleTable table = cycle_table(64, c.protection, {});
    setup.checkpoint_every = best_checkpoint_steps(table, kStep, setup.environment);
    const double a_cycle = 1e6 / time_spread(table, kStep, setup.environment, 1e6).cycles;
    for (const double cycles : {10.0, 40.0}) {
      setup.steps = std::llround(cycles * a_cycle);
      const TimeSpread spread =
          time_spread(table, kStep, setup.environment, static_cast<double>(setup.steps));
      CHECK(spread.cycles == doctest::Approx(cycles).epsilon(0.01));
      std::vector<double> times;
      for (std::int64_t number = 0; number < 300; ++number) times.push_back(simulate(setup, number).time_s);
      std::sort(times.begin(), times.end());
      CAPTURE(static_cast<int>(c.protection.scheme));
      CAPTURE(cycles);
      for (const double probability : {0.1, 0.5, 0.9, 0.95}) {
        const double simulated = times[static_cast<std::size_t>(probability * 300)];
        CAPTURE(probability);
        CHECK(quantile_s(spread, probability) ==
              doctest::Approx(simulated).epsilon(cycles < 20 ? 0.02 : 0.012));
      }
      CHECK(spread.deviation_s == doctest::Approx(mean_of(times).deviation).epsilon(0.2));
    }
  }
}

TEST_CASE("quantiles rise with the probability and surround the mean") {
  const TimeSpread spread =
      time_spread(cycle_table(64, {Scheme::kCheckpoint}, {}), kStep, {64 * 6000.0, 600, 15, 0, 0}, 1e4);
  double last = spread.least_s;
  for (const double probability : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const double time = quantile_s(spread, probability);
    CHECK(time > last);
    last = time;
  }
  CHECK(quantile_s(spread, 0.1) < spread.mean_s);
  CHECK(quantile_s(spread, 0.9) > spread.mean_s);
  // Without failures there is one time.
  const TimeSpread certain =
      time_spread(cycle_table(64, {Scheme::kCheckpoint}, {}), kStep, {kInfinity, 600, 15, 0, 0}, 1e4);
  CHECK(quantile_s(certain, 0.9) == certain.mean_s);
}

TEST_CASE("hot spares run short as the Poisson law says") {
  CHECK(chance_of_shortage(1, 0) == 1);
  CHECK(chance_of_shortage(1, 1) == doctest::Approx(1 - std::exp(-1.0)));
  CHECK(chance_of_shortage(1, 2) == doctest::Approx(1 - 2 * std::exp(-1.0)));
  CHECK(chance_of_shortage(0.5, 10) < 1e-8);
  CHECK(chance_of_shortage(0, 1) == 0);
}
