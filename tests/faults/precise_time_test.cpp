#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "faults/incomplete_gamma.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/precise_time.hpp"
#include "faults/renewal.hpp"

using namespace trainfront::faults;

namespace {

struct Case {
  Protection protection;
  std::int64_t n;
  FailureLaw law;
};

std::vector<Case> cases() {
  Protection elastic{Scheme::kElastic};
  elastic.k_max = 6;
  Protection parts{Scheme::kSpare, 6};
  parts.sub_shards = 4;
  parts.k_max = 8;
  const FailureLaw falling;
  const FailureLaw constant{1, false, false};
  const FailureLaw in_restart{1, true, true};
  const FailureLaw weibull{0.78, false, false};
  return {{{Scheme::kCheckpoint}, 32, falling},
          {{Scheme::kCheckpoint}, 32, weibull},
          {{Scheme::kSpare, 2}, 32, constant},
          {{Scheme::kSpare, 6}, 32, falling},
          {{Scheme::kSpare, 6}, 200, in_restart},
          {{Scheme::kSpare, 6}, 32, weibull},
          {{Scheme::kReplication, 4}, 32, falling},
          {elastic, 32, constant},
          {parts, 32, falling},
          {{Scheme::kSpare, 3}, 32, in_restart}};
}

Simulation setup_of(const Case& c, double steps_per_mtbf) {
  Simulation setup;
  setup.units = c.n;
  setup.protection = c.protection;
  setup.law = c.law;
  setup.step = {0.05, 0.95};
  setup.environment = {steps_per_mtbf * static_cast<double>(c.n), 4, 0.5, 0.1, 0.02};
  setup.checkpoint_every = -1;
  setup.steps = 1'000'000;
  return setup;
}

}  // namespace

TEST_CASE("closed forms meet the simulated time within the noise of the simulation") {
  for (const double steps_per_mtbf : {5.0, 20.0, 100.0}) {
    double error = 0;
    double fast_error = 0;
    double noise = 0;
    for (const Case& c : cases()) {
      Simulation setup = setup_of(c, steps_per_mtbf);
      const PreciseTime closed = precise_time(setup);
      REQUIRE(std::isfinite(closed.time_s));
      const double fast = run_time(cycle_table(c.n, c.protection, law_in(c.law, setup.environment)),
                                   setup.step, setup.environment, kManySteps)
                              .time_s /
                          kManySteps;
      setup.checkpoint_every = closed.checkpoint_every;
      setup.steps =
          static_cast<std::int64_t>(std::min(400'000.0, std::max(20'000.0, 200 * closed.saved_steps)));
      std::vector<double> times;
      for (std::int64_t number = 0; number < 6; ++number) {
        times.push_back(simulate(setup, number).time_s / static_cast<double>(setup.steps));
      }
      const Mean simulated = mean_of(times);
      const double e = closed.time_s / 1e6 / simulated.value - 1;
      CAPTURE(steps_per_mtbf);
      CAPTURE(static_cast<int>(c.protection.scheme));
      CAPTURE(c.protection.r);
      CAPTURE(simulated.value);
      CHECK(std::abs(e) < 0.02 + 4 * simulated.standard_error / simulated.value);
      error += std::abs(e);
      fast_error += std::abs(fast / simulated.value - 1);
      noise += simulated.standard_error / simulated.value;
    }
    const auto n = static_cast<double>(cases().size());
    MESSAGE(steps_per_mtbf, " steps per MTBF, mean error: precise ", 100 * error / n, " %, kernel ",
            100 * fast_error / n, " %, noise ", 100 * noise / n, " %");
    CHECK(error / n < (steps_per_mtbf < 20 ? 0.01 : 0.003) + noise / n);
    if (steps_per_mtbf >= 20) CHECK(fast_error / n < 0.003 + noise / n);
  }
}

TEST_CASE("the search's form is within 1 % of simulated runs at five steps per MTBF, Weibull failures too") {
  const FailureLaw weibull{0.78, false, false};
  std::vector<Case> settings = cases();
  settings.push_back({{Scheme::kSpare, 2}, 200, weibull});
  settings.push_back({{Scheme::kSpare, 6}, 200, weibull});
  settings.push_back({{Scheme::kReplication, 4}, 200, weibull});
  settings.push_back({settings[7].protection, 200, weibull});  // elastic
  settings.push_back({settings[8].protection, 200, weibull});  // sub-shards
  for (const bool clustered : {false, true}) {
    double error = 0;
    double noise = 0;
    double count = 0;
    for (const Case& c : settings) {
      if ((c.law.weibull_shape != 1) != clustered) continue;
      Simulation setup = setup_of(c, 5);
      const CycleTable table = cycle_table(c.n, c.protection, law_in(c.law, setup.environment));
      const double form_s = run_time(table, setup.step, setup.environment, kManySteps).time_s / kManySteps;
      setup.checkpoint_every = std::max<std::int64_t>(
          c.protection.k_max > 0 ? 0 : 1, best_checkpoint_steps(table, setup.step, setup.environment));
      setup.steps = 30'000;
      std::vector<double> times;
      for (std::int64_t number = 0; number < 6; ++number)
        times.push_back(simulate(setup, number).time_s / static_cast<double>(setup.steps));
      const Mean simulated = mean_of(times);
      error += std::abs(form_s / simulated.value - 1);
      noise += simulated.standard_error / simulated.value;
      ++count;
    }
    MESSAGE(std::string(clustered ? "Weibull" : "exponential"), ": mean error ", 100 * error / count,
            " %, noise ", 100 * noise / count, " %");
    CHECK(error / count < 0.01);
    CHECK(noise / count < 0.004);
  }
}

TEST_CASE("the chain holds where every step is struck again and again") {
  Case c = cases()[3];
  c.law.rate_falls = false;
  Simulation setup = setup_of(c, 0.25);
  setup.steps = 200;
  const PreciseTime closed = precise_time(setup);
  CHECK(closed.checkpoint_every == 1);
  setup.checkpoint_every = 1;
  std::vector<double> times;
  for (std::int64_t number = 0; number < 8; ++number) times.push_back(simulate(setup, number).time_s);
  const Mean simulated = mean_of(times);
  CHECK(std::abs(closed.time_s - simulated.value) < 4 * simulated.standard_error);
  setup.checkpoint_every = -1;
  for (const double steps_per_mtbf : {0.1, 1e-3, 1e-6}) {  // a thousandfold slowdown
    setup.environment.group_mtbf_s = steps_per_mtbf * static_cast<double>(c.n);
    CHECK(std::isinf(precise_time(setup).time_s));
  }
  setup.law.weibull_shape = 0.78;
  CHECK(std::isnan(precise_time(setup).time_s));
}

TEST_CASE("the chain knows voluntary restarts that become due in restarts, and their last patches") {
  Case few = cases()[4];
  few.n = 32;
  few.protection.k_max = 4;
  Case elastic = cases()[7];
  elastic.n = 10;
  elastic.protection.k_max = 5;  // each failure in its last patches makes the next one longer
  for (const Case& c : {few, elastic}) {
    Simulation setup = setup_of(c, 4);
    setup.steps = 40'000;
    setup.environment.restart_s = 6;
    setup.environment.detect_s = 0;  // which the first try of a voluntary restart does without
    const PreciseTime closed = precise_time(setup);
    setup.checkpoint_every = closed.checkpoint_every;
    std::vector<double> times;
    for (std::int64_t number = 0; number < 30; ++number) times.push_back(simulate(setup, number).time_s);
    const Mean simulated = mean_of(times);
    CHECK(simulated.standard_error < 0.003 * simulated.value);
    CHECK(std::abs(closed.time_s - simulated.value) < 0.003 * simulated.value + 3 * simulated.standard_error);
  }
}

TEST_CASE("plans that mask failures are evaluated down to two steps per MTBF") {
  for (const Case& c : cases()) {
    Simulation setup = setup_of(c, 2.001);
    const CycleTable table = cycle_table(c.n, c.protection, law_in(c.law, setup.environment));
    CHECK(std::isfinite(run_time(table, setup.step, setup.environment, 1e6).time_s));
    setup = setup_of(c, 1.999);
    const CycleTable struck = cycle_table(c.n, c.protection, law_in(c.law, setup.environment));
    CHECK(std::isinf(run_time(struck, setup.step, setup.environment, 1e6).time_s) == struck.masks);
  }
}

// Prints the table of docs/failures.md.
TEST_CASE("runs of few cycles, which start with all units, take the time of simulated ones") {
  Protection leaving{Scheme::kSpare, 6};
  leaving.k_max = 12;
  const std::vector<Case> short_cases = {{{Scheme::kCheckpoint}, 64, {}},
                                         {{Scheme::kReplication, 4}, 64, {}},
                                         {{Scheme::kSpare, 4}, 64, {}},
                                         {{Scheme::kSpare, 9}, 200, {1, false, false}},
                                         {leaving, 64, {}}};
  for (const double cycles : {0.2, 1.0, 3.0, 10.0, 40.0}) {
    double sum = 0;
    double noise = 0;
    double long_run = 0;
    double searched = 0;
    for (const Case& c : short_cases) {
      Simulation setup = setup_of(c, 100);
      setup.environment.restart_s = 40;
      const PreciseTime mean = precise_time(setup);
      setup.checkpoint_every = mean.checkpoint_every;
      setup.steps = std::llround(cycles * mean.saved_steps);
      const double closed_s = precise_time(setup).time_s;
      std::vector<double> times;
      for (std::int64_t number = 0; number < 200; ++number) times.push_back(simulate(setup, number).time_s);
      const Mean simulated = mean_of(times);
      const double error = closed_s / simulated.value - 1;
      CAPTURE(cycles);
      CAPTURE(static_cast<int>(c.protection.scheme));
      CAPTURE(simulated.standard_error / simulated.value);
      CHECK(std::abs(error) < 0.006 + 3.5 * simulated.standard_error / simulated.value);
      sum += std::abs(error);
      noise += simulated.standard_error / simulated.value;
      const CycleTable table = cycle_table(c.n, c.protection, law_in(c.law, setup.environment));
      const double searched_s =
          run_time(table, setup.step, setup.environment, static_cast<double>(setup.steps)).time_s;
      searched += std::abs(searched_s / simulated.value - 1);
      long_run += std::abs(mean.time_s / 1e6 * static_cast<double>(setup.steps) / simulated.value - 1);
    }
    const double n = 0.01 * static_cast<double>(short_cases.size());
    MESSAGE("| ", cycles, " | ", sum / n, " | ", searched / n, " | ", long_run / n, " | ", noise / n, " |");
    CHECK(sum / n < 0.3 + 1.5 * noise / n);
    CHECK(searched / n < 0.5 + 1.5 * noise / n);
  }
}

TEST_CASE("below 20 steps the chain takes over without a jump") {
  Case c = cases()[3];
  const double above = precise_time(setup_of(c, 20.001)).time_s;
  const double below = precise_time(setup_of(c, 19.999)).time_s;
  CHECK(below / above == doctest::Approx(1).epsilon(0.003));
}

TEST_CASE("a time of a form that too many states keep from its best says so") {
  Simulation setup = setup_of(cases()[3], 10);
  CHECK(!precise_time(setup).is_rough);
  setup = setup_of({{Scheme::kElastic}, 100'000, {}}, 10);
  setup.checkpoint_every = 400;
  setup.steps = 1'000'000'000;
  const Survival survival(100'000, 1.0);
  CHECK(long_run(setup, survival).time.is_rough);
  setup.environment.group_mtbf_s *= 2.01;
  CHECK(!long_run(setup, survival).time.is_rough);
}

TEST_CASE("the best interval is no worse than its neighbours") {
  for (const Case& c : cases()) {
    Simulation setup = setup_of(c, 50);
    const PreciseTime best = precise_time(setup);
    if (best.checkpoint_every == 0) continue;
    for (const double factor : {0.5, 0.8, 1.25, 2.0}) {
      setup.checkpoint_every =
          std::max<std::int64_t>(1, std::llround(factor * static_cast<double>(best.checkpoint_every)));
      CHECK(precise_time(setup).time_s >= best.time_s * (1 - 1e-5));
    }
  }
}

TEST_CASE("the best interval is found at once, however long the run and however little is ever lost") {
  Case c = cases()[0];
  c.protection = {Scheme::kSpare, 6};
  c.protection.k_max = 2;  // leaves by itself before anything is lost
  Simulation setup = setup_of(c, 1e4);
  setup.steps = 1'000'000'000;
  const PreciseTime best = precise_time(setup);
  CHECK(std::isfinite(best.time_s));
  CHECK(best.time_s < 1.5e9);
}

TEST_CASE("precise time without failures, without sense and without end") {
  Simulation setup = setup_of(cases()[3], 50);
  setup.environment.group_mtbf_s = std::numeric_limits<double>::infinity();
  CHECK(precise_time(setup).time_s == doctest::Approx(1e6));
  setup = setup_of(cases()[3], 50);
  setup.units = 0;
  CHECK(std::isinf(precise_time(setup).time_s));
  setup = setup_of(cases()[3], 50);
  setup.protection.r = 33;
  CHECK(std::isinf(precise_time(setup).time_s));
  setup = setup_of(cases()[0], 0.001);
  CHECK(std::isinf(precise_time(setup).time_s));
}

TEST_CASE("the incomplete gamma function") {
  CHECK(upper_gamma(1, 2) == doctest::Approx(std::exp(-2.0)).epsilon(1e-13));
  CHECK(upper_gamma(0.5, 1.3) == doctest::Approx(std::erfc(std::sqrt(1.3))).epsilon(1e-12));
  CHECK(upper_gamma(3, 0.7) == doctest::Approx(std::exp(-0.7) * (1 + 0.7 + 0.245)).epsilon(1e-13));
  CHECK(upper_gamma(4, 0) == 1);
  CHECK(upper_gamma(1e5, 1e5) == doctest::Approx(0.5).epsilon(0.002));
}

TEST_CASE("exponential failures have no memory, Weibull ones of shape below 1 come in clusters") {
  const Gaps exponential(GapLaw({1, true, false}), 100);
  CHECK(exponential.hit_in_any(10) == doctest::Approx(1 - std::exp(-0.1)));
  CHECK(exponential.hit_after(10, 5) == doctest::Approx(1 - std::exp(-0.1)));
  const GapLaw law({0.78, true, false});
  const Gaps weibull(law, 100);
  CHECK(law.squared_variation == doctest::Approx(1.68).epsilon(0.01));
  CHECK(weibull.hit_after(10, 5) > weibull.hit_in_any(10));
}
