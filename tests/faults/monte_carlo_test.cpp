#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "faults/monte_carlo.hpp"
#include "faults/random.hpp"
#include "faults/survival.hpp"

using namespace trainfront::faults;

namespace {

std::vector<double> column(const std::vector<MonteCarloTrial>& trials, double MonteCarloTrial::*field) {
  std::vector<double> values;
  for (const MonteCarloTrial& trial : trials) values.push_back(trial.*field);
  return values;
}

}  // namespace

TEST_CASE("failures and stacks with RECTLR in the loop are those of the closed form") {
  for (const int r : {2, 4, 8}) {
    MonteCarlo setup;
    setup.groups = 64;
    setup.r = r;
    const auto trials = monte_carlo(setup, 0, 300);
    const Mean failures = mean_of(column(trials, &MonteCarloTrial::failures));
    const Survival p = survival(64, r, Placement::kGolomb);
    double endured = 0;
    double dwell = 0;
    double stacked = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double left = 64.0 - static_cast<double>(k);
      endured += p[k];
      dwell += p[k] / left;
      stacked += p[k] / left * std::ceil(64 / left - 1e-12);
    }
    CHECK(std::abs(failures.value - endured) < 4 * failures.standard_error + 0.002 * endured);
    double simulated_dwell = 0;
    double simulated_stacked = 0;
    for (const MonteCarloTrial& trial : trials) {
      simulated_dwell += trial.time;
      simulated_stacked += trial.time * trial.stacks;
    }
    CHECK(simulated_stacked / simulated_dwell == doctest::Approx(stacked / dwell).epsilon(0.01));
  }
}

TEST_CASE("spread placements need no more than the fair share of stacks, consecutive ones do") {
  MonteCarlo setup;
  setup.groups = 64;
  setup.r = 6;
  const auto spread = monte_carlo(setup, 0, 60);
  setup.placement = Placement::kConsecutive;
  const auto consecutive = monte_carlo(setup, 0, 60);
  CHECK(mean_of(column(spread, &MonteCarloTrial::depth_above_fair_share)).value < 0.02);
  CHECK(mean_of(column(consecutive, &MonteCarloTrial::depth_above_fair_share)).value > 0.1);
  // They endure more failures, but not for nothing.
  CHECK(mean_of(column(consecutive, &MonteCarloTrial::failures)).value >
        mean_of(column(spread, &MonteCarloTrial::failures)).value);
}

TEST_CASE("sub-shards mean less work after a loss") {
  MonteCarlo setup;
  setup.groups = 40;
  setup.r = 6;
  const double whole = mean_of(column(monte_carlo(setup, 0, 30), &MonteCarloTrial::stacks)).value;
  setup.sub_shards = 4;
  const double parts = mean_of(column(monte_carlo(setup, 0, 30), &MonteCarloTrial::stacks)).value;
  CHECK(parts < 0.9 * whole);
  CHECK(parts > 1);
}

TEST_CASE("any split of the trials gives the same trials") {
  MonteCarlo setup;
  setup.groups = 20;
  setup.r = 3;
  setup.placement = Placement::kRandom;
  const auto whole = monte_carlo(setup, 0, 10);
  auto parts = monte_carlo(setup, 0, 4);
  for (const MonteCarloTrial& trial : monte_carlo(setup, 4, 10)) parts.push_back(trial);
  REQUIRE(parts.size() == whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(parts[i].failures == whole[i].failures);
    CHECK(parts[i].stacks == whole[i].stacks);
  }
  CHECK(monte_carlo({4, 5}, 0, 3).empty());
}

TEST_CASE("Philox gives the published numbers") {
  // Known answers of Random123: counter and key all zero.
  Random random(0, 0);
  CHECK(random.bits() == 0x6627e8d5U);
  CHECK(random.bits() == 0xe169c58dU);
  CHECK(random.bits() == 0xbc57ac4cU);
  CHECK(random.bits() == 0x9b00dbd8U);
}

TEST_CASE("draws are uniform, exponential and normal in their moments") {
  Random random(42, 7);
  double uniform = 0;
  double exponential = 0;
  double normal = 0;
  double squares = 0;
  int below[3] = {};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) {
    uniform += random.uniform() / kDraws;
    exponential += random.exponential() / kDraws;
    const double z = random.normal();
    normal += z / kDraws;
    squares += z * z / kDraws;
    ++below[random.below(3)];
  }
  CHECK(uniform == doctest::Approx(0.5).epsilon(0.01));
  CHECK(exponential == doctest::Approx(1).epsilon(0.02));
  CHECK(std::abs(normal) < 0.02);
  CHECK(squares == doctest::Approx(1).epsilon(0.02));
  for (const int count : below) CHECK(count == doctest::Approx(kDraws / 3.0).epsilon(0.03));
}
