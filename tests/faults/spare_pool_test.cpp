#include "faults/spare_pool.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>

#include "faults/event_simulation.hpp"
#include "faults/random.hpp"

using namespace trainfront::faults;

TEST_CASE("without spares a restart waits for a whole replacement, with plenty for none") {
  CHECK(mean_wait_for_replacement({0.1, 0, 1}, 0) == 1);
  CHECK(mean_wait_for_replacement({0.1, 0, 1}, 20) < 1e-9);
  CHECK(mean_wait_for_replacement({0, 0, 1}, 1) == 0);
  // Three go at once where there is but one spare: two of three bursts are of more than one node.
  CHECK(mean_wait_for_replacement({0, 1e-12, 3}, 1) == doctest::Approx(2.0 / 3));
}

TEST_CASE("one spare: the wait for the first of those under way, by hand") {
  // B is Poisson with mean m; of B under way the first is due after 1/(B + 1) of the time, and the one that
  // was lost now takes the spare that it frees: E B/(B + 1) = 1 - (1 - e^-m)/m.
  for (const double m : {0.01, 0.5, 3.0, 40.0, 2000.0})
    CHECK(mean_wait_for_replacement({m, 0, 1}, 1) == doctest::Approx(1 + std::expm1(-m) / m).epsilon(1e-9));
}

TEST_CASE("more spares never make a restart wait longer, more losses never shorter") {
  for (const double together : {1.0, 4.0, 11.0}) {
    double more_losses = 0;
    for (const double lost : {0.01, 0.3, 2.0, 30.0, 900.0, 1e5}) {
      const NodeLosses losses{lost / 2, lost / 2 / together, together};
      double before = 1;
      for (const std::int64_t spares : {0, 1, 2, 5, 20, 100, 3000, 200'000}) {
        const double wait = mean_wait_for_replacement(losses, spares);
        CHECK(wait >= 0);
        CHECK(wait <= before + 1e-12);
        before = wait;
      }
      const double wait = mean_wait_for_replacement(losses, 5);
      CHECK(wait >= more_losses - 1e-12);
      more_losses = wait;
    }
  }
}

TEST_CASE("the mean wait is that of losses played on a time line") {
  struct Case {
    NodeLosses losses;
    std::size_t spares;
  };
  for (const Case& c :
       {Case{{0.4, 0, 1}, 1}, Case{{3, 0, 1}, 4}, Case{{0.5, 0.2, 4}, 3}, Case{{0, 2, 11}, 30}}) {
    Random random(3, c.spares);
    const double events = c.losses.single + c.losses.bursts;
    double now = 0;  // in replacement times
    std::deque<double> replaced;
    double waited = 0;
    constexpr int kEvents = 100'000;
    for (int event = 0; event < kEvents; ++event) {
      now += random.exponential() / events;
      const int lost = random.uniform() <= c.losses.bursts / events ? random.geometric(c.losses.together) : 1;
      while (!replaced.empty() && replaced.front() <= now) replaced.pop_front();
      replaced.insert(replaced.end(), static_cast<std::size_t>(lost), now + 1);
      if (replaced.size() > c.spares) waited += replaced[replaced.size() - c.spares - 1] - now;
    }
    CAPTURE(c.spares);
    CHECK(mean_wait_for_replacement(c.losses, static_cast<std::int64_t>(c.spares)) ==
          doctest::Approx(waited / kEvents).epsilon(c.losses.together > 1 ? 0.05 : 0.02));
  }
}

TEST_CASE("a simulated restart waits until all but the hot spares are replaced") {
  Simulation setup;
  setup.units = 8;
  setup.step = {0, 10};
  setup.environment = {1e12, 50, 0, 0, 0};
  setup.steps = 40;
  setup.hot_spares = 1;
  setup.replace_s = 1000;
  // The first finds a spare: up again at 150. The second waits for the first's replacement at 1100.
  setup.trace = {{100, 1}, {250, 1}};
  CHECK(simulate(setup, 0).restarts_s == doctest::Approx(50 + 850 + 50));
  CHECK(simulate(setup, 0).time_s == doctest::Approx(1150 + 400));
  setup.hot_spares = 2;
  CHECK(simulate(setup, 0).restarts_s == doctest::Approx(100));
  setup.hot_spares = 0;
  CHECK(simulate(setup, 0).restarts_s == doctest::Approx(1050));  // the second falls into the first's wait
  setup.trace = {{100, 3}};
  setup.hot_spares = 2;  // one of three is missing
  CHECK(simulate(setup, 0).restarts_s == doctest::Approx(1050));
}

TEST_CASE("hot spares of a simulated run cost no more than the closed form charges, and not much less") {
  // Nothing fails during restarts and waits here, so that fewer replacements are under way than it takes.
  Simulation setup;
  setup.units = 100;
  setup.step = {0.5, 6};
  setup.environment = {100 * 20'000.0, 120, 8, 5, 0.2};
  setup.steps = 400'000;
  setup.replace_s = 1500;
  setup.checkpoint_every = 50;
  for (const double share : {0.0, 0.5}) {
    setup.law.burst_share = share;
    setup.law.burst_units = share > 0 ? 4 : 1;
    setup.hot_spares = share > 0 ? 3 : 1;
    const double events = setup.replace_s / 20'000;
    const double wait_s = setup.replace_s * mean_wait_for_replacement(
                                                {events * (1 - share), events * share, setup.law.burst_units},
                                                setup.hot_spares);
    double waited_s = 0;
    double restarts = 0;
    for (std::int64_t number = 0; number < 16; ++number) {
      const SimulatedRun run = simulate(setup, number);
      waited_s += run.restarts_s - 120 * static_cast<double>(run.restarts);
      restarts += static_cast<double>(run.restarts);
    }
    CHECK(waited_s / restarts < 1.02 * wait_s);
    CHECK(waited_s / restarts > 0.75 * wait_s);
  }
}
