#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/rejoin.hpp"

using namespace trainfront::faults;

TEST_CASE("elastic training with units that come back meets its simulation") {
  for (const double repair : {600.0, 6000.0}) {
    Simulation setup;
    setup.units = 128;
    setup.protection = {Scheme::kElastic};
    setup.step = {0.5, 6};
    setup.environment = {128 * 2000.0, 900, 10, 5, 0.2};
    setup.steps = 30'000;
    setup.environment.repair_s = repair;
    setup.environment.rejoin_s = 30;
    const RejoinTerms closed = rejoin_terms(128, Survival(128, 1.0), {}, setup.environment);
    const double time_s = rejoining_time_s(closed, setup.step, 30'000);
    std::vector<double> times;
    for (std::int64_t number = 0; number < 8; ++number) times.push_back(simulate(setup, number).time_s);
    const Mean simulated = mean_of(times);
    CHECK(closed.deficit == doctest::Approx(repair / 2000).epsilon(0.05));
    CHECK(std::abs(time_s / simulated.value - 1) < 0.004 + 3 * simulated.standard_error / simulated.value);
  }
}

TEST_CASE("idle spares lower the deficit, and slow repairs end all progress") {
  Environment environment{1e5, 100, 1, 0, 0};
  environment.repair_s = 4000;
  environment.rejoin_s = 10;
  const Survival all(100, 1.0);
  const double none = rejoin_terms(100, all, {}, environment).deficit;
  environment.idle_spares = 2;
  const double two = rejoin_terms(100, all, {}, environment).deficit;
  // Four units in repair on the mean of 100 running: d = 4000 (100 - d)/1e5.
  CHECK(none == doctest::Approx(400 / 104.0));
  CHECK(two < none);
  CHECK(two > none - 2);
  environment.idle_spares = 0;
  environment.repair_s = 1e9;
  CHECK(std::isinf(rejoining_time_s(rejoin_terms(100, all, {}, environment), {0, 1}, 1e4)));
  environment.repair_s = 4000;
  environment.group_mtbf_s = std::numeric_limits<double>::infinity();
  CHECK(rejoining_time_s(rejoin_terms(100, all, {}, environment), {0, 1}, 1e4) == doctest::Approx(1e4));
}
