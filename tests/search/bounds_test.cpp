#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bound_checks.hpp"

namespace trainfront::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("The flush bounds every step from below, also with stacks") {
  const Held held = hold_flush(31, 120);
  CHECK(held.broken == 0);
  CHECK(held.plans > 2500);
  CHECK(held.nearest <= 1);
}

TEST_CASE("The kernel gives the bits of faults::run_time for every protection, rate and step") {
  RandomSteps steps;
  std::uint64_t times = 0;
  std::uint64_t held = 0;  // with a probability that asks for more than the mean
  for_random_parts(32, 150, [&](const Sample& sample, ProtectionPart part) {
    const Problem& problem = sample.setup.problem;
    UnitKernel& kernel = part.kernel();
    std::vector<UnitKernel::ProtectionTime> got;
    for (int round = 0; round < 3; ++round) {
      const faults::StepModel step = steps.next();
      kernel.set_step(step, 1e5);
      for (std::size_t rate = 0; rate < sample.setup.rates.size(); ++rate) {
        kernel.run(rate);
        for (std::size_t spare = 0; spare < sample.setup.spares.size(); ++spare) {
          kernel.best_times(spare, got);
          double least_s = kInfinity;
          for (const auto& [number, time_s, is_struck_too_often] : got) {
            const auto& protection = problem.protections[static_cast<std::size_t>(number)];
            const bool masks = part.is_masking();
            const faults::FailingUnit unit =
                masks ? sample.unit.unit
                      : faults::FailingUnit{
                            .units = sample.setup.nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
            const NodeFailures& node = sample.setup.rates[rate].node;
            const faults::Environment environment = environment_in(
                problem.failures, protection, sample.setup.recovery[static_cast<std::size_t>(number)], node,
                unit, sample.setup.nodes);
            const auto table =
                faults::cycle_table(unit.units, protection, law_in(problem.failures, environment, node),
                                    masks ? sample.unit.state_copies : -1);
            const faults::RunTime run =
                faults::run_time(table, step, environment, 1e5, chance_of(problem.goal));
            REQUIRE(time_s == run.time_s);
            REQUIRE((!is_struck_too_often || time_s == kInfinity));
            REQUIRE(run.time_s >= run.spread.mean_s);
            held += run.time_s > run.spread.mean_s;
            least_s = std::min(least_s, time_s);
            ++times;
          }
          CHECK(kernel.least_time_s(spare) == least_s);
        }
      }
    }
  });
  MESSAGE("times " << times << ", above the mean " << held);
  CHECK(times > 5000);
  CHECK(held > 500);
}

TEST_CASE("Work that a bound calls dominated takes at least the time from which on plans are") {
  const HeldWork held = hold_work(33, 150, 60);
  MESSAGE("plans held against their bounds " << held.with_tables.plans << ", nearest "
                                             << held.at_least_overhead.nearest << " and "
                                             << held.with_tables.nearest);
  CHECK(held.at_least_overhead.broken == 0);
  CHECK(held.with_tables.broken == 0);
  CHECK(held.with_tables.plans > 100'000);
}

TEST_CASE("Where failures are called mild every way of masking them makes progress") {
  const Held held = hold_mild(35, 150);
  MESSAGE("plans " << held.plans << ", largest slowdown over the limit " << held.nearest);
  CHECK(held.broken == 0);
  CHECK(held.plans > 1000);
}

TEST_CASE("Who makes no progress is counted right wherever it is said to be known") {
  RandomSteps steps;
  std::uint64_t known = 0, endless = 0, struck = 0;
  for_random_parts(34, 150, [&](const Sample& sample, ProtectionPart part) {
    std::vector<UnitKernel::ProtectionTime> times;
    for (int round = 0; round < 20; ++round) {
      const faults::StepModel step = steps.next();
      const double step_s = step.fixed_s + step.per_stack_s;
      const double count = std::pow(10.0, round % 7);
      if (!part.progress_is_known(count * step_s, count * step_s, step_s)) continue;
      UnitKernel& kernel = part.kernel();
      kernel.set_step(step, count);
      ProtectionPart::Endless pairs;
      for (std::size_t cell = 0; cell < sample.setup.cells.size(); ++cell) {
        if (cell % sample.setup.spares.size() == 0) kernel.run(cell / sample.setup.spares.size());
        kernel.best_times(cell % sample.setup.spares.size(), times);
        const auto offers = static_cast<std::uint64_t>(sample.setup.cells[cell].legal_offers);
        for (const auto& time : times) {
          if (!std::isfinite(time.time_s)) pairs.all += offers;
          if (time.is_struck_too_often) pairs.struck += offers;
        }
      }
      const ProtectionPart::Endless said = part.endless(count * step_s, step_s);
      CHECK(said.all == pairs.all);
      CHECK(said.struck == pairs.struck);
      ++known;
      endless += pairs.all;
      struck += pairs.struck;
    }
  });
  CHECK(known > 1000);
  CHECK(endless > 100);
  CHECK(struck > 100);
}

}  // namespace trainfront::search
