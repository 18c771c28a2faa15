#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "costmodel/framework_profile.hpp"
#include "costmodel/step_time.hpp"
#include "faults/cycle.hpp"
#include "problems.hpp"
#include "search/environment.hpp"
#include "search/plan_rules.hpp"
#include "search/protection_part.hpp"
#include "search/tables.hpp"
#include "search/walk.hpp"

namespace trainfront::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The protections of one random plan's layout, on its GPU count.
struct Sample {
  Sample(const Space& space, const Plan& plan)
      : setup{space, plan.hardware, gpus_position(space, plan.gpus)},
        unit{setup, plan.layout.dp, plan.layout.group_gpus(), groups_per_state_copy(plan.layout)} {}

  static std::size_t gpus_position(const Space& space, std::int64_t gpus) {
    std::size_t position = 0;
    while (space.problem().gpus[position] != gpus) ++position;
    return position;
  }

  ProtectionPart part(bool masking, Tables& tables) const {
    const faults::FailingUnit node{.units = setup.nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
    if (masking) return {setup, unit.masking, unit.legal_masking, unit.unit, unit.state_copies, true, tables};
    return {setup, unit.plain, unit.legal_plain, node, -1, false, tables};
  }

  BlockSetup setup;
  UnitSetup unit;
};

struct RandomSteps {
  faults::StepModel next() {
    std::uniform_real_distribution<double> uniform;
    const double step_s = std::pow(10.0, 4 * uniform(random) - 1);  // 0.1 s to 1000 s
    const double share = uniform(random);
    return {step_s * (1 - share), step_s * share};
  }
  std::mt19937_64 random{5};
};

template <class Check>
void for_random_parts(std::uint64_t seed, Check check) {
  RandomProblems problems{seed};
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    for (int draw = 0; draw < 6 && space.size() > 0; ++draw) {
      const Plan plan = space.decode(problems.below(space.size()));
      if (plan.layout.gpus() != plan.gpus) continue;
      const Sample sample{space, plan};
      if (sample.unit.legal_plain > 0) check(sample, sample.part(false, space.tables()));
      if (sample.unit.legal_masking > 0) check(sample, sample.part(true, space.tables()));
    }
  }
}

}  // namespace

TEST_CASE("The flush bounds every step from below, also with stacks") {
  RandomProblems problems{31};
  int steps = 0;
  for (int i = 0; i < 120; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    const Problem& problem = space.problem();
    for (int draw = 0; draw < 60 && space.size() > 0; ++draw) {
      const Plan plan = space.decode(problems.below(space.size()));
      const auto& hardware = problem.hardware[static_cast<std::size_t>(plan.hardware)].hardware;
      const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);
      if (step_rule(problem, plan.layout, plan.gpus, nodes, plan.global_batch, plan.islands) !=
          costmodel::Rule::kNone)
        continue;
      const auto cost = costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware,
                                               costmodel::default_profile(plan.layout.framework));
      const double flush_s = costmodel::step_time_lower_bound(cost, plan.layout.dp, plan.global_batch);
      const auto step = costmodel::step_time(cost, plan.layout.dp, plan.global_batch, plan.islands);
      const double slope_s = std::min(cost.near.curve.slope(), cost.far.curve.slope()) *
                             static_cast<double>(costmodel::micro_batches(plan.layout, plan.global_batch));
      for (double stacks : {1.0, 1.25, 2.0, 7.0, 100.0})
        CHECK(flush_s + (stacks - 1) * slope_s <= step.with_stacks(stacks) * (1 + 1e-12));
      ++steps;
    }
  }
  CHECK(steps > 500);
}

TEST_CASE("The kernel gives the bits of faults::run_time for every protection, rate and step") {
  RandomSteps steps;
  std::uint64_t times = 0;
  std::uint64_t held = 0;  // with a probability that asks for more than the mean
  for_random_parts(32, [&](const Sample& sample, ProtectionPart part) {
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
          for (const auto& [number, time_s] : got) {
            const auto& protection = problem.protections[static_cast<std::size_t>(number)];
            const bool masks = part.is_masking();
            const faults::FailingUnit unit =
                masks ? sample.unit.unit
                      : faults::FailingUnit{
                            .units = sample.setup.nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
            faults::Environment environment = sample.setup.recovery[static_cast<std::size_t>(number)];
            environment.group_mtbf_s = unit_mtbf_s(sample.setup.rates[rate].failures_per_node_s, unit);
            const auto table =
                faults::cycle_table(unit.units, protection, faults::law_in(problem.failures.law, environment),
                                    masks ? sample.unit.state_copies : -1);
            const faults::RunTime run =
                faults::run_time(table, step, environment, 1e5, chance_of(problem.goal));
            REQUIRE(time_s == run.time_s);
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
  RandomSteps steps;
  std::uint64_t bounded = 0;
  for_random_parts(33, [&](const Sample& sample, ProtectionPart part) {
    DominatedTimes dominated;
    dominated.from_s.resize(sample.setup.cells.size());
    for (int round = 0; round < 20; ++round) {
      const faults::StepModel step = steps.next();
      const double step_s = step.fixed_s + step.per_stack_s;
      const double share = step.per_stack_s / step_s;
      const double count = std::pow(10.0, round % 6);
      UnitKernel& kernel = part.kernel();
      kernel.set_step(step, count);
      double least_s = kInfinity;  // of cells that somebody sells
      for (std::size_t cell = 0; cell < sample.setup.cells.size(); ++cell) {
        if (cell % sample.setup.spares.size() == 0) kernel.run(cell / sample.setup.spares.size());
        const double time_s = kernel.least_time_s(cell % sample.setup.spares.size());
        // A time just above the true one: were the work called dominated, the plan would be lost.
        dominated.from_s[cell] = sample.setup.cells[cell].legal_offers > 0 ? time_s * (1 + 1e-6) : 0.0;
        if (sample.setup.cells[cell].legal_offers > 0) least_s = std::min(least_s, time_s);
        bounded += kernel.columns();
      }
      if (!std::isfinite(least_s)) continue;
      for (double& from_s : dominated.from_s)
        if (!std::isfinite(from_s)) from_s = 0;
      ++dominated.version;
      CHECK(part.dominated_work(share, dominated) > count * step_s);
      CHECK(part.dominated_work_at_least_overhead(share, dominated) > count * step_s);
      CHECK(part.dominated_work_at_least_overhead(share, dominated) >=
            part.dominated_work(share, dominated) * (1 - 1e-6));
    }
  });
  MESSAGE("plans held against their bounds " << bounded);
  CHECK(bounded > 50'000);
}

TEST_CASE("Who makes no progress is counted right wherever it is said to be known") {
  RandomSteps steps;
  std::uint64_t known = 0, endless = 0;
  for_random_parts(34, [&](const Sample& sample, ProtectionPart part) {
    std::vector<UnitKernel::ProtectionTime> times;
    for (int round = 0; round < 20; ++round) {
      const faults::StepModel step = steps.next();
      const double step_s = step.fixed_s + step.per_stack_s;
      const double count = std::pow(10.0, round % 7);
      if (!part.progress_is_known(count * step_s, count * step_s, step_s)) continue;
      UnitKernel& kernel = part.kernel();
      kernel.set_step(step, count);
      std::uint64_t pairs = 0;
      for (std::size_t cell = 0; cell < sample.setup.cells.size(); ++cell) {
        if (cell % sample.setup.spares.size() == 0) kernel.run(cell / sample.setup.spares.size());
        kernel.best_times(cell % sample.setup.spares.size(), times);
        for (const auto& time : times)
          if (!std::isfinite(time.time_s))
            pairs += static_cast<std::uint64_t>(sample.setup.cells[cell].legal_offers);
      }
      CHECK(part.endless(count * step_s) == pairs);
      ++known;
      endless += pairs;
    }
  });
  CHECK(known > 1000);
  CHECK(endless > 100);
}

}  // namespace trainfront::search
