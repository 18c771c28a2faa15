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
    setup.repair_s = repair;
    setup.rejoin_s = 30;
    const RejoiningTime closed = rejoining_time(128, setup.step, setup.environment, {repair, 30, 0}, 30'000);
    std::vector<double> times;
    for (std::int64_t number = 0; number < 8; ++number) times.push_back(simulate(setup, number).time_s);
    const Mean simulated = mean_of(times);
    CHECK(closed.deficit == doctest::Approx(repair / 2000).epsilon(0.05));
    CHECK(std::abs(closed.time_s / simulated.value - 1) <
          0.004 + 3 * simulated.standard_error / simulated.value);
  }
}

TEST_CASE("idle spares lower the deficit, and slow repairs end all progress") {
  const StepModel step{0, 1};
  const Environment environment{1e5, 100, 1, 0, 0};
  const double none = rejoining_time(100, step, environment, {4000, 10, 0}, 1e4).deficit;
  const double two = rejoining_time(100, step, environment, {4000, 10, 2}, 1e4).deficit;
  // Four units in repair on the mean of 100 running: d = 4000 (100 - d)/1e5.
  CHECK(none == doctest::Approx(400 / 104.0));
  CHECK(two < none);
  CHECK(two > none - 2);
  CHECK(std::isinf(rejoining_time(100, step, environment, {1e9, 10, 0}, 1e4).time_s));
  CHECK(std::isinf(rejoining_time(0, step, environment, {1, 1, 0}, 1e4).time_s));
  Environment never = environment;
  never.group_mtbf_s = std::numeric_limits<double>::infinity();
  CHECK(rejoining_time(100, step, never, {4000, 10, 0}, 1e4).time_s == doctest::Approx(1e4));
}
