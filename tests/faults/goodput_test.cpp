#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/goodput.hpp"
#include "faults/monte_carlo.hpp"
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

TEST_CASE("availability and goodput are those of the loss tree") {
  for (const bool in_restart : {false, true}) {
    for (const Case& c : cases()) {
      for (const double factor : {0.3, 1.0, 30.0, kInfinity}) {
        Environment environment = environment_of(c);
        environment.group_mtbf_s *= factor;
        const CycleTable table = cycle_table(64, c.protection, law_in({1, true, in_restart}, environment));
        const RunTime run = run_time(table, kStep, environment, 1e5);
        const LossTree tree = loss_tree(table, kStep, environment, 1e5);
        REQUIRE(std::isfinite(run.time_s));
        CHECK(run.availability ==
              doctest::Approx(1 - (tree.checkpoints_s + tree.restarts_s) / tree.total_s()).epsilon(1e-9));
        CHECK(tree.goodput() == doctest::Approx(6.5e5 / run.time_s).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("every interval that stays ends with one save; the rest of the cycle is lost") {
  // One failure in 6000 s ends a cycle: E floor(X/tau) = 1/(e^(tau/M) - 1) intervals of it stay.
  const Environment environment{64 * 6000.0, 600, 15, 20, 0.2};
  const CycleTable table = cycle_table(64, {Scheme::kCheckpoint}, {});
  const RunTime run = run_time(table, kStep, environment, 1e5);
  const LossTree tree = loss_tree(table, kStep, environment, 1e5);
  CHECK(tree.checkpoints_s == doctest::Approx(6.5e5 * 15 / (run.interval_s - 15)).epsilon(1e-9));
  const double cycles = tree.restarts_s / 600;
  const double stay = 1 / std::expm1(run.interval_s / 6000);
  CHECK(tree.checkpoints_s == doctest::Approx(cycles * 15 * stay).epsilon(1e-3));
  CHECK(tree.lost_work_s == doctest::Approx(cycles * (6000 - stay * run.interval_s)).epsilon(1e-3));
}

// Prints the table of docs/failures.md.
TEST_CASE("quantiles of the time meet those of simulated runs") {
  constexpr std::array<double, 4> kProbabilities = {0.1, 0.5, 0.9, 0.95};
  constexpr std::size_t kRuns = 400;
  std::string table;
  for (const double cycles : {1.0, 3.0, 10.0, 40.0}) {
    const double within = cycles < 2 ? 0.05 : cycles < 5 ? 0.025 : cycles < 20 ? 0.015 : 0.01;
    std::array<double, 4> sum{};
    std::array<double, 4> most{};
    for (const Case& c : cases()) {
      Simulation setup;
      setup.units = 64;
      setup.protection = c.protection;
      setup.step = kStep;
      setup.environment = environment_of(c);
      const CycleTable cycle = cycle_table(64, c.protection, {});
      setup.checkpoint_every = best_checkpoint_steps(cycle, kStep, setup.environment);
      const double a_cycle = 1e6 / run_time(cycle, kStep, setup.environment, 1e6).spread.cycles;
      setup.steps = std::llround(cycles * a_cycle);
      const TimeSpread spread =
          run_time(cycle, kStep, setup.environment, static_cast<double>(setup.steps)).spread;
      CHECK(spread.cycles == doctest::Approx(cycles).epsilon(0.01));
      std::vector<double> times;
      for (std::size_t number = 0; number < kRuns; ++number)
        times.push_back(simulate(setup, static_cast<std::int64_t>(number)).time_s);
      std::sort(times.begin(), times.end());
      CAPTURE(static_cast<int>(c.protection.scheme));
      CAPTURE(cycles);
      for (std::size_t i = 0; i < kProbabilities.size(); ++i) {
        const double simulated = times[static_cast<std::size_t>(kProbabilities[i] * kRuns)];
        const double error = std::abs(quantile_s(spread, kProbabilities[i]) / simulated - 1);
        CAPTURE(kProbabilities[i]);
        CHECK(error < within);
        sum[i] += error;
        most[i] = std::max(most[i], error);
      }
      if (cycles > 2) CHECK(spread.deviation_s == doctest::Approx(mean_of(times).deviation).epsilon(0.3));
    }
    char row[160];
    const auto percent = [&](const std::array<double, 4>& of, std::size_t i) { return 100 * of[i]; };
    const auto n = static_cast<double>(cases().size());
    std::snprintf(row, sizeof row, "| %g | %.1f/%.1f | %.1f/%.1f | %.1f/%.1f | %.1f/%.1f |\n", cycles,
                  percent(sum, 0) / n, percent(most, 0), percent(sum, 1) / n, percent(most, 1),
                  percent(sum, 2) / n, percent(most, 2), percent(sum, 3) / n, percent(most, 3));
    table += row;
  }
  MESSAGE("error in per cent, mean/largest of five protections\n| cycles | p10 | p50 | p90 | p95 |\n"
          << table);
}

TEST_CASE("where restarts fail too, the time spreads no wider than in simulated runs") {
  for (const Case& c : cases()) {
    Simulation setup;
    setup.units = 64;
    setup.protection = c.protection;
    setup.law.failures_in_restart = true;
    setup.step = kStep;
    setup.environment = environment_of(c);
    const CycleTable cycle = cycle_table(64, c.protection, law_in(setup.law, setup.environment));
    setup.checkpoint_every = best_checkpoint_steps(cycle, kStep, setup.environment);
    const double a_cycle = 1e6 / run_time(cycle, kStep, setup.environment, 1e6).spread.cycles;
    setup.steps = std::llround(10 * a_cycle);
    const TimeSpread spread =
        run_time(cycle, kStep, setup.environment, static_cast<double>(setup.steps)).spread;
    std::vector<double> times;
    for (std::int64_t number = 0; number < 400; ++number) times.push_back(simulate(setup, number).time_s);
    std::sort(times.begin(), times.end());
    CAPTURE(static_cast<int>(c.protection.scheme));
    CHECK(spread.deviation_s == doctest::Approx(mean_of(times).deviation).epsilon(0.3));
    for (const double probability : {0.1, 0.5, 0.9, 0.95}) {
      const double simulated = times[static_cast<std::size_t>(probability * 400)];
      CHECK(quantile_s(spread, probability) == doctest::Approx(simulated).epsilon(0.02));
    }
  }
}

TEST_CASE("quantiles rise with the probability and surround the mean") {
  const auto spread_of = [](double group_mtbf_s) {
    return run_time(cycle_table(64, {Scheme::kCheckpoint}, {}), kStep, {group_mtbf_s, 600, 15, 0, 0}, 1e4)
        .spread;
  };
  const TimeSpread spread = spread_of(64 * 6000.0);
  double last = spread.least_s;
  for (const double probability : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const double time = quantile_s(spread, probability);
    CHECK(time > last);
    last = time;
  }
  CHECK(quantile_s(spread, 0.1) < spread.mean_s);
  CHECK(quantile_s(spread, 0.9) > spread.mean_s);
  // Without failures there is one time.
  const TimeSpread certain = spread_of(kInfinity);
  CHECK(quantile_s(certain, 0.9) == certain.mean_s);
}

TEST_CASE("the normal distribution's quantiles are those of the tables") {
  // Abramowitz and Stegun, table 26.5.
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.9) == doctest::Approx(1.2815515655446004).epsilon(1e-14));
  CHECK(normal_quantile(0.99) == doctest::Approx(2.3263478740408408).epsilon(1e-14));
  CHECK(normal_quantile(0.001) == doctest::Approx(-3.0902323061678132).epsilon(1e-14));
}

TEST_CASE("the time that holds with a probability is the quantile, but never less than the mean") {
  for (const Case& c : cases()) {
    const CycleTable table = cycle_table(64, c.protection, {});
    // From runs that hardly see a failure to runs that see thousands.
    for (const double steps : {1.0, 30.0, 1e3, 1e5, 1e7}) {
      double last = 0;
      for (const double probability : {0.5, 0.6, 0.9, 0.99}) {
        const RunTime run = run_time(table, kStep, environment_of(c), steps, Chance(probability));
        const double quantile = quantile_s(run.spread, probability);
        CHECK(run.time_s == doctest::Approx(std::max(run.spread.mean_s, quantile)).epsilon(1e-12));
        CHECK(run.time_s >= run.spread.mean_s);
        CHECK(run.time_s >= last);
        last = run.time_s;
      }
    }
    const RunTime mean = run_time(table, kStep, environment_of(c), 1e5);
    CHECK(mean.time_s == mean.spread.mean_s);
  }
}

TEST_CASE("a run without protection ends at once or starts over: its quantiles are those of the law") {
  // 8 units of one failure in 8e5 s each: a run of 1e5 s has the mean time (1/a + T_r)(e^(a L) - 1).
  const Environment environment{8 * 1e5, 600, 0, 0, 0};
  const CycleTable table = cycle_table(8, {Scheme::kNone}, {});
  const auto spread_of = [&](double steps) { return run_time(table, {0, 1}, environment, steps).spread; };
  // Hardly ever a failure: nine runs of ten take just their length.
  CHECK(quantile_s(spread_of(1e3), 0.9) == doctest::Approx(1e3).epsilon(0.01));
  // Many: geometric, so nearly exponential: p90 is ln 10 times the mean.
  const TimeSpread long_run = spread_of(5e5);
  CHECK(quantile_s(long_run, 0.9) / long_run.mean_s == doctest::Approx(std::log(10)).epsilon(0.03));
}
