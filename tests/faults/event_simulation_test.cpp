#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/monte_carlo.hpp"
#include "spare_paper.hpp"

using namespace trainfront::faults;

namespace {

Simulation small_run(const Protection& protection) {
  Simulation setup;
  setup.units = 32;
  setup.protection = protection;
  setup.step = {0.5, 6};
  setup.environment = {32 * 600.0, 300, 8, 5, 0.2};
  setup.steps = 3000;
  setup.checkpoint_every = 15;
  return setup;
}

std::vector<Protection> protections() {
  Protection parts{Scheme::kSpare, 6};
  parts.sub_shards = 4;
  parts.k_max = 5;
  Protection elastic{Scheme::kElastic};
  elastic.k_max = 4;
  return {{Scheme::kCheckpoint}, {Scheme::kReplication, 2}, {Scheme::kSpare, 3}, parts, elastic};
}

double accounted_s(const SimulatedRun& run) {
  return run.useful_s + run.redundancy_s + run.patches_s + run.checkpoints_s + run.lost_work_s +
         run.restarts_s;
}

}  // namespace

TEST_CASE("a run without failures takes its steps and its checkpoints") {
  Simulation setup = small_run({Scheme::kCheckpoint});
  setup.environment.group_mtbf_s = std::numeric_limits<double>::infinity();
  const SimulatedRun run = simulate(setup, 0);
  CHECK(run.finished);
  // 3000 steps of 6.5 s; the 200th checkpoint would come after the last step.
  CHECK(run.time_s == doctest::Approx(3000 * 6.5 + 199 * 8));
  CHECK(run.failures == 0);
}

TEST_CASE("failures of a trace do what can be worked out by hand") {
  Simulation setup = small_run({Scheme::kCheckpoint});
  setup.steps = 40;
  setup.checkpoint_every = 10;
  // Ten steps to 65 s, saved at 73 s. The failure at 100 s throws 27 s away; restart to 400 s; the one at 250
  // s falls into the restart, which it does not disturb. Then 30 steps and 2 saves.
  setup.trace = {{100, 1}, {250, 1}};
  const SimulatedRun run = simulate(setup, 0);
  CHECK(run.time_s == doctest::Approx(400 + 30 * 6.5 + 2 * 8));
  CHECK(run.lost_work_s == doctest::Approx(27));
  CHECK(run.restarts_s == doctest::Approx(300));
  CHECK(run.restarts == 1);
  CHECK(run.failures == 1);
}

TEST_CASE("a masked failure costs a patch and further stacks") {
  Simulation setup = small_run({Scheme::kSpare, 3});
  setup.steps = 10;
  setup.checkpoint_every = 0;
  // In the third step: a stack of 6 s, 5 s to notice, 0.2 s to reorder; then 7 steps of two stacks.
  setup.trace = {{15, 1}};
  const SimulatedRun run = simulate(setup, 0);
  CHECK(run.time_s == doctest::Approx(3 * 6.5 + 6 + 5.2 + 7 * 12.5));
  CHECK(run.patches_s == doctest::Approx(11.2));
  CHECK(run.redundancy_s == doctest::Approx(7 * 6));
  CHECK(run.restarts == 0);
}

TEST_CASE("a burst that takes all hosts of a type ends the cycle, however redundant") {
  Simulation setup = small_run({Scheme::kSpare, 3});
  setup.steps = 100;
  setup.trace = {{200, 31}};
  CHECK(simulate(setup, 0).restarts == 1);
}

TEST_CASE("a voluntary restart that becomes due in a restart begins it anew") {
  Simulation setup = small_run({Scheme::kElastic});
  setup.protection.k_max = 1;
  setup.law.failures_in_restart = true;
  setup.steps = 10;
  setup.checkpoint_every = 0;
  // In the first step: noticed, reordered, done again by 31 units, saved in 8 s. Into the restart of 300 s,
  // less the 5 s to notice, falls another failure 100 s after its start.
  const double saved_s = 6.5 + 5.2 + 0.5 + 6 * 32.0 / 31 + 8;
  setup.trace = {{3, 1}, {saved_s + 100, 1}};
  const SimulatedRun run = simulate(setup, 0);
  CHECK(run.restarts_s == doctest::Approx(100 + 300));
  CHECK(run.time_s == doctest::Approx(saved_s + 400 + 9 * 6.5));
  CHECK(run.voluntary_restarts == 1);
}

TEST_CASE("an elastic run takes repaired units back") {
  Simulation setup = small_run({Scheme::kElastic});
  setup.steps = 20;
  setup.checkpoint_every = 0;
  setup.environment.repair_s = 30;
  setup.environment.rejoin_s = 4;
  // In the first step: noticed, reordered, done again by 31 units; back 33 s after the start.
  setup.trace = {{3, 1}};
  const double slow = 0.5 + 6 * 32.0 / 31;
  // 6.5 + 5.2 + slow = 18.4; two more slow steps to 31.8, one to 38.5 (begun at 31.8 < 33); then 16 fast
  // ones.
  const SimulatedRun run = simulate(setup, 0);
  CHECK(run.time_s == doctest::Approx(6.5 + 5.2 + slow + 3 * slow + 4 + 16 * 6.5));
  CHECK(run.restarts == 0);
}

TEST_CASE("where the time went sums to the whole") {
  for (const Protection& protection : protections()) {
    for (const bool in_restart : {false, true}) {
      Simulation setup = small_run(protection);
      setup.law.failures_in_restart = in_restart;
      setup.law.weibull_shape = 0.78;
      setup.stack_deviation = 0.05;
      setup.burst_mtbf_s = 4000;
      setup.burst_units = 3;
      for (std::int64_t number = 0; number < 5; ++number) {
        const SimulatedRun run = simulate(setup, number);
        REQUIRE(run.finished);
        CHECK(accounted_s(run) == doctest::Approx(run.time_s).epsilon(1e-9));
        CHECK(run.failures > 0);
      }
    }
  }
}

TEST_CASE("a run is a function of the setup and its number") {
  Simulation setup = small_run({Scheme::kSpare, 3});
  const SimulatedRun third = simulate(setup, 3);
  simulate(setup, 1);
  CHECK(simulate(setup, 3).time_s == third.time_s);
  CHECK(simulate(setup, 4).time_s != third.time_s);
  setup.seed = 9;
  CHECK(simulate(setup, 3).time_s != third.time_s);
}

TEST_CASE("a run that cannot end is given up") {
  Simulation setup = small_run({Scheme::kCheckpoint});
  setup.environment.group_mtbf_s = 32 * 10.0;
  setup.steps = 100;
  const SimulatedRun run = simulate(setup, 0);
  CHECK_FALSE(run.finished);
}

TEST_CASE("state sharded over groups makes restarts more frequent") {
  Simulation setup = small_run({Scheme::kSpare, 6});
  setup.steps = 20'000;
  const auto restarts = [&](std::int64_t copies) {
    setup.state_copies = copies;
    return simulate(setup, 0).restarts;
  };
  CHECK(restarts(2) > 2 * restarts(32));
}

TEST_CASE("the SPARe paper's table: SPARe within 2 %, replication within 4 %, availability within 2 points") {
  const auto meets = [](const Simulation& setup, const PaperFigures& published, double within) {
    std::vector<double> ratios;
    std::vector<double> ups;
    for (std::int64_t number = 0; number < 12; ++number) {
      const SimulatedRun run = simulate(setup, number);
      ratios.push_back(paper_ratio(setup, run));
      ups.push_back(paper_availability(run));
    }
    CAPTURE(setup.units);
    CHECK(mean_of(ratios).value == doctest::Approx(published.ratio).epsilon(within));
    CHECK(std::abs(mean_of(ups).value - published.availability) < 0.02);
  };
  for (const PaperRow& row : kPaperRows) {
    meets(paper_spare(row), row.spare, 0.02);
    meets(paper_replication(row), row.replication, 0.04);
  }
}
