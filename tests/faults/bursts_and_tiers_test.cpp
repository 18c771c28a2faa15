#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/goodput.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/rejoin.hpp"

using namespace trainfront::faults;

namespace {

constexpr double kSteps = 1e6;

struct Case {
  std::string name;
  Protection protection;
  std::int64_t units = 64;
  FailureLaw law;
  Environment environment;
  std::int64_t state_copies = -1;
};

Simulation simulation_of(const Case& c) {
  Simulation setup;
  setup.units = c.units;
  setup.protection = c.protection;
  setup.law = c.law;
  setup.state_copies = c.state_copies;
  setup.step = {0.5, 6};
  setup.environment = c.environment;
  return setup;
}

// Its intervals and k_max.
void follow(const RunTime& run, const CycleTable& table, const Case& c, Simulation& setup) {
  setup.protection.k_max = run.k_max;
  const LossTree tree = loss_tree(table, setup.step, c.environment, kSteps);
  const double step_s = (tree.useful_s + tree.redundancy_s + tree.patches_s) / kSteps;
  setup.checkpoint_every = 0;
  if (run.interval_s > 0)
    setup.checkpoint_every =
        std::max<std::int64_t>(1, std::llround((run.interval_s - c.environment.save_s) / step_s));
  if (run.deep_interval_s > 0)
    setup.deep_every = std::max<std::int64_t>(1, std::llround(run.deep_interval_s / step_s));
}

// What run_time says against simulated runs of about 300 cycles each, in all.
double error_of(const Case& c, double& noise) {
  Simulation setup = simulation_of(c);
  const CycleTable table = cycle_table(c.units, c.protection, law_in(c.law, c.environment), c.state_copies);
  REQUIRE(table.error == ProtectionError::kNone);
  const RunTime run = run_time(table, setup.step, c.environment, kSteps);
  REQUIRE(std::isfinite(run.time_s));
  follow(run, table, c, setup);
  setup.steps = 200'000;
  std::vector<double> times;
  for (std::int64_t number = 0; number < 6; ++number) {
    const SimulatedRun simulated = simulate(setup, number);
    REQUIRE(simulated.finished);
    times.push_back(simulated.time_s / static_cast<double>(setup.steps));
  }
  const Mean mean = mean_of(times);
  noise = mean.standard_error / mean.value;
  return run.time_s / kSteps / mean.value - 1;
}

void check_mean_error(const std::vector<Case>& cases, double largest, double average) {
  double sum = 0;
  double noise_sum = 0;
  for (const Case& c : cases) {
    double noise = 0;
    const double error = error_of(c, noise);
    CAPTURE(c.name);
    CAPTURE(error);
    CAPTURE(noise);
    CHECK(std::abs(error) < largest + 4 * noise);
    sum += std::abs(error);
    noise_sum += noise;
  }
  const auto n = static_cast<double>(cases.size());
  MESSAGE("mean error ", 100 * sum / n, " %, noise ", 100 * noise_sum / n, " %");
  CHECK(sum / n < average + noise_sum / n);
}

// MTBF of the system 40 and 400 steps.
Environment environment_of(double steps_per_mtbf, std::int64_t units = 64) {
  return {steps_per_mtbf * 6.5 * static_cast<double>(units), 120, 8, 5, 0.2};
}

Protection elastic(int k_max) {
  Protection protection{Scheme::kElastic};
  protection.k_max = k_max;
  return protection;
}

}  // namespace

TEST_CASE("bursts: the closed form meets the simulation of events that take several units") {
  std::vector<Case> cases;
  for (const double together : {2.0, 8.0}) {
    for (const double share : {0.2, 1.0}) {
      for (const bool falls : {true, false}) {
        FailureLaw law;
        law.rate_falls = falls;
        law.burst_share = share;
        law.burst_units = together;
        const Environment e = environment_of(100);
        cases.push_back({"checkpoint", {Scheme::kCheckpoint}, 64, law, e});
        cases.push_back({"SPARe 3", {Scheme::kSpare, 3}, 64, law, e});
        cases.push_back({"SPARe 9", {Scheme::kSpare, 9}, 64, law, e});
        cases.push_back({"replication 4", {Scheme::kReplication, 4}, 64, law, e});
        cases.push_back({"elastic", elastic(-1), 64, law, e});
        cases.push_back({"elastic, 8 copies", elastic(-1), 64, law, e, 8});
      }
    }
  }
  check_mean_error(cases, 0.02, 0.004);
}

TEST_CASE(
    "however many groups take over, a restart at the first losses loses no work to bursts, and never less") {
  FailureLaw law;
  for (const double share : {0.3, 0.481, 0.95}) {
    for (const double together : {2.0, 3.0, 11.5}) {
      law.burst_share = share;
      law.burst_units = together;
      for (const std::int64_t n : {20, 110, 128, 160, 1000, 4096}) {
        for (const int k_max : {1, 2, 5, -1}) {
          const Protection protection{.scheme = Scheme::kElastic, .k_max = k_max};
          const CycleTable table = cycle_table(n, protection, law);
          for (const CycleColumn& column : table.columns) {
            CHECK(column.losing >= 0);
            CHECK(column.losing <= 1);
          }
          const Environment environment{
              .group_mtbf_s = 1e4 * static_cast<double>(n), .restart_s = 100, .save_s = 3};
          const RunTime run = run_time(table, {5, 5}, environment, 1e5);
          CHECK(run.time_s >= 1e6);
          CHECK(run.time_s < 1.1e6);  // of 20 groups each lost one is a twentieth
        }
      }
    }
  }
}

TEST_CASE("bursts of one unit are no bursts, and larger ones never help where restarts are at their best") {
  Protection spare{Scheme::kSpare, 4};
  spare.k_max = -1;
  for (const Protection& protection : {spare, elastic(-1)}) {
    const Environment e = environment_of(100);
    const auto time_with = [&](double share, double together) {
      FailureLaw law;
      law.burst_share = share;
      law.burst_units = together;
      return run_time(cycle_table(64, protection, law), {0.5, 6}, e, kSteps).time_s;
    };
    CHECK(time_with(1, 1) == doctest::Approx(time_with(0, 1)).epsilon(1e-12));
    double before = 0;
    for (const double together : {1.0, 1.5, 3.0, 6.0, 20.0}) {
      const double now = time_with(0.5, together);
      CHECK(now >= before * (1 - 1e-9));
      before = now;
    }
  }
}

TEST_CASE("two levels of checkpoints meet the simulation") {
  std::vector<Case> cases;
  for (const double share : {0.02, 0.3, 0.77}) {
    for (const double steps_per_mtbf : {40.0, 400.0}) {
      Environment e = environment_of(steps_per_mtbf);
      e.save_s = 1;
      e.deep_save_s = 20;
      e.deep_share = share;
      e.deep_restart_s = 60;
      cases.push_back({"checkpoint", {Scheme::kCheckpoint}, 64, {}, e});
      cases.push_back({"SPARe 3", {Scheme::kSpare, 3}, 64, {}, e});
      cases.push_back({"replication 2", {Scheme::kReplication, 2}, 64, {}, e});
    }
  }
  check_mean_error(cases, 0.015, 0.004);
}

TEST_CASE("a quick level that is never lost is a faster single one, one that is always lost none at all") {
  Environment e = environment_of(100);
  e.deep_save_s = 20;
  e.deep_restart_s = 60;
  const CycleTable table = cycle_table(64, {Scheme::kCheckpoint}, {});
  e.deep_share = 0;
  Environment single = environment_of(100);
  CHECK(run_time(table, {0.5, 6}, e, kSteps).time_s == run_time(table, {0.5, 6}, single, kSteps).time_s);
  CHECK(run_time(table, {0.5, 6}, e, kSteps).deep_interval_s == 0);
  e.deep_share = 1;
  single.save_s = 20;
  single.restart_s += 60;
  const double deep_s = run_time(table, {0.5, 6}, e, kSteps).time_s;
  CHECK(deep_s == doctest::Approx(run_time(table, {0.5, 6}, single, kSteps).time_s).epsilon(0.005));
  double before = 0;
  // Near 1 the quick level is written for next to nothing, which the product of the two does not see.
  for (double share = 0; share < 0.9; share += 0.05) {
    e.deep_share = share;
    const double now = run_time(table, {0.5, 6}, e, kSteps).time_s;
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("two levels: the loss tree sums to the time and tells of both") {
  Environment e = environment_of(100);
  e.save_s = 1;
  e.deep_save_s = 20;
  e.deep_share = 0.1;
  const CycleTable table = cycle_table(64, {Scheme::kCheckpoint}, {});
  const LossTree tree = loss_tree(table, {0.5, 6}, e, kSteps);
  CHECK(tree.total_s() == doctest::Approx(run_time(table, {0.5, 6}, e, kSteps).time_s).epsilon(1e-12));
  e.deep_share = 0;
  CHECK(tree.checkpoints_s > loss_tree(table, {0.5, 6}, e, kSteps).checkpoints_s);
}

TEST_CASE("units that come back meet the simulation, with sharded state and bursts too") {
  std::vector<Case> cases;
  for (const double repair : {600.0, 6000.0}) {
    for (const double share : {0.0, 0.3}) {
      FailureLaw law;
      law.burst_share = share;
      law.burst_units = share > 0 ? 3 : 1;
      Environment e = environment_of(100, 128);
      e.repair_s = repair;
      e.rejoin_s = 20;
      Protection protection{Scheme::kElastic};
      protection.rejoins = true;
      cases.push_back({"all hold the state", protection, 128, law, e});
      cases.push_back({"four copies", protection, 128, law, e, 4});
      cases.push_back({"two copies", protection, 128, law, e, 2});
    }
  }
  // Two copies, bursts and repairs as long as nine failures: the state goes every few events, and 4 % are
  // missed.
  check_mean_error(cases, 0.045, 0.006);
}

// Prints the table of docs/failures.md.
TEST_CASE(
    "quantiles meet those of simulated runs with bursts, two levels of checkpoints and units that come "
    "back") {
  FailureLaw bursts;
  bursts.burst_share = 0.4;
  bursts.burst_units = 3;
  Environment deep = environment_of(100);
  deep.save_s = 1;
  deep.deep_save_s = 20;
  deep.deep_share = 0.3;
  deep.deep_restart_s = 60;
  Environment repaired = environment_of(100, 128);
  repaired.repair_s = 3000;
  repaired.rejoin_s = 20;
  Protection rejoining{Scheme::kElastic};
  rejoining.rejoins = true;
  const std::vector<Case> cases = {
      {"bursts, checkpoint", {Scheme::kCheckpoint}, 64, bursts, environment_of(100)},
      {"bursts, SPARe 6", {Scheme::kSpare, 6}, 64, bursts, environment_of(100)},
      {"bursts, elastic", elastic(8), 64, bursts, environment_of(100)},
      {"two levels, checkpoint", {Scheme::kCheckpoint}, 64, {}, deep},
      {"two levels, SPARe 3", {Scheme::kSpare, 3}, 64, {}, deep},
      {"coming back", rejoining, 128, {}, repaired},
      {"coming back, bursts, four copies", rejoining, 128, bursts, repaired, 4}};
  constexpr std::size_t kRuns = 400;
  std::string table;
  for (const Case& c : cases) {
    for (const double cycles : {3.0, 10.0}) {
      Simulation setup = simulation_of(c);
      const CycleTable cycle =
          cycle_table(c.units, c.protection, law_in(c.law, c.environment), c.state_copies);
      const RunTime many = run_time(cycle, setup.step, c.environment, kSteps);
      follow(many, cycle, c, setup);
      setup.steps = std::llround(cycles * kSteps / many.spread.cycles);
      const TimeSpread spread =
          run_time(cycle, setup.step, c.environment, static_cast<double>(setup.steps)).spread;
      std::vector<double> times;
      for (std::size_t number = 0; number < kRuns; ++number)
        times.push_back(simulate(setup, static_cast<std::int64_t>(number)).time_s);
      std::sort(times.begin(), times.end());
      CAPTURE(c.name);
      CAPTURE(cycles);
      char cell[64];
      table += "| " + c.name + " | " + std::to_string(static_cast<int>(cycles));
      for (const double probability : {0.1, 0.5, 0.9, 0.95}) {
        const double simulated = times[static_cast<std::size_t>(probability * kRuns)];
        const double error = quantile_s(spread, probability) / simulated - 1;
        CAPTURE(probability);
        CHECK(std::abs(error) < (cycles < 5 ? 0.05 : 0.025));
        std::snprintf(cell, sizeof cell, " | %.1f", 100 * error);
        table += cell;
      }
      table += " |\n";
    }
  }
  MESSAGE("error in per cent\n| system | cycles | p10 | p50 | p90 | p95 |\n" << table);
}
