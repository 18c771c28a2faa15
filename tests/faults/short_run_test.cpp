#include "faults/short_run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "faults/monte_carlo.hpp"
#include "faults/random.hpp"
#include "faults/refined_time.hpp"

using namespace trainfront::faults;

namespace {

double steps_of(const Simulation& system) {
  return static_cast<double>(system.steps);
}

double between(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

Protection some_protection(Random& random, std::int64_t units) {
  Protection protection;
  switch (random.below(6)) {
    case 0:
      protection = {Scheme::kSpare, 2 + static_cast<int>(random.below(6))};
      break;
    case 1:
      protection = {Scheme::kSpare, 3 + static_cast<int>(random.below(5))};
      protection.k_max = 1 + static_cast<int>(random.below(6));
      break;
    case 2:
      protection = {Scheme::kReplication, 4};
      break;
    case 3:
      protection = {Scheme::kElastic};
      protection.k_max = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(units / 4)));
      break;
    case 4:
      protection = {Scheme::kSpare, 6};
      protection.sub_shards = 4;
      protection.k_max = 8;
      break;
    default:
      break;
  }
  return protection;
}

// Steps of one second.
Simulation some_system(Random& random) {
  Simulation system;
  constexpr std::int64_t kUnits[] = {16, 32, 64, 200};
  system.units = kUnits[random.below(4)];
  system.protection = some_protection(random, system.units);
  system.law.rate_falls = random.uniform() < 0.6;
  system.step = {0.05, 0.95};
  const double mtbf_s = between(random, 4, 1000);
  system.environment.group_mtbf_s = mtbf_s * static_cast<double>(system.units);
  system.environment.restart_s = std::min(between(random, 0.5, 40), 3 * mtbf_s);
  system.environment.detect_s = std::min(0.3, system.environment.restart_s);
  system.environment.reorder_s = 0.05;
  system.environment.save_s = between(random, 0.02, 4);
  system.sync_needs_patch = false;
  system.checkpoint_every = -1;
  system.steps = 1'000'000;
  return system;
}

struct Kind {
  const char* name;
  FailureLaw law;
  double deep_share = 0;
  double least_steps_per_failure = 0;
};

}  // namespace

// Prints the table of docs/failures.md.
TEST_CASE("runs of few steps and few cycles take the time of simulated ones, and are up as long") {
  const std::vector<Kind> kinds = {{"exponential", {}},
                                   {"Weibull 0.78", {.weibull_shape = 0.78}, 0, 20},
                                   {"failures in restarts", {.failures_in_restart = true}},
                                   {"bursts", {.burst_share = 0.3, .burst_units = 3}},
                                   {"two levels", {}, 0.3}};
  constexpr int kSystems = 40;
  constexpr int kRuns = 250;
  for (const Kind& kind : kinds) {
    double error = 0;
    double up_error = 0;
    double noise = 0;
    double bias = 0;
    double searched = 0;  // by the search's form, and by its mean over long runs
    double long_run = 0;
    double searched_noise = 0;
    int searched_count = 0;
    int count = 0;
    for (int i = 0; i < kSystems; ++i) {
      Random random(11, static_cast<std::uint64_t>(i));
      Simulation system = some_system(random);
      const bool falls = system.law.rate_falls;
      system.law = kind.law;
      system.law.rate_falls = falls;
      if (kind.deep_share > 0) {
        system.environment.deep_share = kind.deep_share;
        system.environment.deep_save_s = 5 * system.environment.save_s;
        system.environment.deep_restart_s = 3;
      }
      if (system.environment.group_mtbf_s < kind.least_steps_per_failure * static_cast<double>(system.units))
        continue;
      const PreciseTime mean = refined_time(system).time;
      const double cycles = between(random, 0.03, 3);
      const double steps = std::max(1.0, cycles * mean.saved_steps);
      if (!std::isfinite(mean.time_s) || steps > 5e4) continue;
      system.steps = std::llround(steps);
      const RefinedTime form = refined_time(system);
      system.checkpoint_every = form.time.checkpoint_every;
      system.deep_every = form.deep_every;
      CHECK(system.checkpoint_every < std::max<std::int64_t>(2, system.steps));
      system.seed = static_cast<std::uint64_t>(i);
      std::vector<double> times;
      double down_s = 0;
      double time_s = 0;
      for (std::int64_t number = 0; number < kRuns; ++number) {
        const SimulatedRun run = simulate(system, number);
        times.push_back(run.time_s);
        time_s += run.time_s;
        down_s += run.restarts_s + run.checkpoints_s;
      }
      const Mean simulated = mean_of(times);
      const double own_noise = simulated.standard_error / simulated.value;
      const double own_error = form.time.time_s / simulated.value - 1;
      CAPTURE(std::string(kind.name));
      CAPTURE(i);
      CAPTURE(system.steps);
      CAPTURE(own_noise);
      CHECK(std::abs(own_error) < 0.015 + 4 * own_noise);
      const CycleTable table =
          cycle_table(system.units, system.protection, law_in(system.law, system.environment));
      if (table.masks && system.steps >= 100) {
        const double searched_s = run_time(table, system.step, system.environment, steps_of(system)).time_s;
        const double long_s = run_time(table, system.step, system.environment, kManySteps).time_s /
                              kManySteps * steps_of(system);
        searched += std::abs(searched_s / simulated.value - 1);
        long_run += std::abs(long_s / simulated.value - 1);
        searched_noise += own_noise;
        ++searched_count;
        CHECK(searched_s <= long_s * (1 + 1e-12));
        CHECK(std::abs(searched_s / simulated.value - 1) < 0.05 + 4 * own_noise);
      }
      error += std::abs(own_error);
      bias += own_error;
      noise += own_noise;
      up_error += std::abs(form.time.availability - (1 - down_s / time_s));
      ++count;
    }
    const double n = 0.01 * count;
    MESSAGE("| ", std::string(kind.name), " | ", error / n, " | ", bias / n, " | ", up_error / n, " | ",
            noise / n, " |");
    const double some = 0.01 * searched_count;
    MESSAGE("search: | ", std::string(kind.name), " | ", searched_count, " | ", searched / some, " | ",
            long_run / some, " | ", searched_noise / some, " |");
    CHECK(searched_count > 5);
    // The gaps of a law that clusters are in the first failure's time, and in it alone, for exponential ones.
    const double clusters = kind.law.weibull_shape != 1 ? 0.5 : 0;
    CHECK(searched / some < 0.5 + clusters + 1.2 * searched_noise / some);
    CHECK(count > kSystems / 2);
    // Of a normal error the mean size is 0.8 deviations.
    CHECK(error / n < 0.3 + noise / n);
    CHECK(std::abs(bias / n) < 0.4 + noise / n / 2);
  }
}

TEST_CASE("a run shorter than the best interval writes no checkpoint, and pays for none") {
  Simulation system;
  system.units = 64;
  system.step = {0, 10};
  system.environment = {64 * 3600.0, 600, 30, 0, 0.2};
  system.steps = 20;
  system.checkpoint_every = -1;
  const PreciseTime time = precise_time(system);
  CHECK(time.checkpoint_every == 0);
  CHECK(time.checkpoint_interval_s == 0);
  // By hand: starting over until 200 s pass without a failure (Daly 2006): (M + R)(e^(T/M) - 1).
  CHECK(time.time_s == doctest::Approx((3600 + 600) * std::expm1(200 / 3600.0)).epsilon(1e-9));
  system.checkpoint_every = 10;
  const double once = precise_time(system).time_s;
  // One save between two halves: each starts over by itself, the first with its save.
  CHECK(once == doctest::Approx((3600 + 600) * (std::expm1(130 / 3600.0) + std::expm1(100 / 3600.0))));
}

TEST_CASE("restarts that hardly ever succeed are waited for as often as in simulated runs") {
  Simulation system;
  system.units = 24;
  system.protection = {Scheme::kReplication, 4};
  system.law.failures_in_restart = true;
  system.step = {0, 1};
  system.environment = {24 * 200.0, 200 * 24.0, 5, 0, 0};  // a restart as long as a unit lives
  system.steps = 60'000;
  system.checkpoint_every = 300;
  const double form_s = precise_time(system).time_s;
  std::vector<double> times;
  for (std::int64_t number = 0; number < 60; ++number) times.push_back(simulate(system, number).time_s);
  const Mean simulated = mean_of(times);
  CAPTURE(simulated.value);
  CAPTURE(simulated.standard_error);
  CHECK(simulated.standard_error < 0.05 * simulated.value);
  CHECK(std::abs(form_s - simulated.value) < 0.02 * simulated.value + 3 * simulated.standard_error);
}

TEST_CASE("the time grows with the steps, and no law, interval or length makes it jump") {
  Random random(5, 0);
  for (int i = 0; i < 12; ++i) {
    Simulation system = some_system(random);
    system.steps = 1;
    double before = precise_time(system).time_s;
    if (!std::isfinite(before)) continue;
    for (const double factor : {1.0, 2.0, 5.0, 20.0, 100.0, 999.0, 1001.0, 3000.0}) {
      system.steps = std::llround(factor);
      const double time = precise_time(system).time_s;
      CAPTURE(i);
      CAPTURE(factor);
      // From 1000 steps on they are not told apart.
      if (factor == 1001.0) {
        CHECK(time / before == doctest::Approx(1001 / 999.0).epsilon(0.006));
      } else {
        CHECK(time >= before * (1 - 1e-9));
      }
      before = time;
    }
  }
}

TEST_CASE("where a million units are lost one by one a short run is told as quickly as a long one") {
  Simulation system;
  system.units = 1'000'000;
  system.protection = {Scheme::kSpare, 9};
  system.step = {0, 10};
  system.environment = {60e6, 600, 30, 0, 0.2};
  system.checkpoint_every = -1;
  system.steps = 300;
  const PreciseTime time = precise_time(system);
  // Two stacks from the first failure on, and a patch for each step that is hit.
  const double steps_s = 300 * 20 + 300 * -std::expm1(-20.0 / 60) * 10;
  CHECK(time.time_s == doctest::Approx(steps_s).epsilon(0.1));
  CHECK(time.checkpoint_every == 0);
}
