#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "costmodel/framework_profile.hpp"
#include "costmodel/step_time.hpp"
#include "faults/cycle.hpp"
#include "random_problems.hpp"
#include "search/environment.hpp"
#include "search/mild_failures.hpp"
#include "search/plan_rules.hpp"
#include "search/protection_part.hpp"
#include "search/tables.hpp"
#include "search/walk.hpp"

namespace trainfront::search {

// Bounds held against the values that they bound, on random plans of random problems.
struct Held {
  std::uint64_t plans = 0;
  std::uint64_t broken = 0;  // bound above value
  double nearest = 0;        // the largest bound over value

  void hold(double bound, double value, std::uint64_t of_plans = 1) {
    plans += of_plans;
    if (!(bound <= value)) ++broken;
    if (value > 0) nearest = std::max(nearest, bound / value);
  }
};

// The protections of one random plan's layout, on its GPU count.
struct Sample {
  Sample(const Space& space, const Plan& plan)
      : setup{space.problem(), plan.hardware, gpus_position(space, plan.gpus)},
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
void for_random_parts(std::uint64_t seed, int problem_count, Check check) {
  RandomProblems problems{seed};
  for (int i = 0; i < problem_count; ++i) {
    const Space space{problems.next_of_any_law()};
    for (int draw = 0; draw < 6 && space.size() > 0; ++draw) {
      const Plan plan = space.decode(problems.below(space.size()));
      if (plan.layout.gpus() != plan.gpus) continue;
      const Sample sample{space, plan};
      if (sample.unit.legal_plain > 0) check(sample, sample.part(false, space.tables()));
      if (sample.unit.legal_masking > 0) check(sample, sample.part(true, space.tables()));
    }
  }
}

// The flush against the whole step, with one stack and more.
inline Held hold_flush(std::uint64_t seed, int problem_count) {
  RandomProblems problems{seed};
  Held held;
  for (int i = 0; i < problem_count; ++i) {
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
        held.hold((flush_s + (stacks - 1) * slope_s) * (1 - 1e-12), step.with_stacks(stacks));
    }
  }
  return held;
}

// Time from which on plans of a cell are dominated, just above the fastest one's: were its work called
// dominated, it would be lost, and were any other's, that one's bound would be above its time too. Each cell
// by itself, under both bounds.
struct HeldWork {
  Held at_least_overhead;
  Held with_tables;
};
inline HeldWork hold_work(std::uint64_t seed, int problem_count, int rounds) {
  RandomSteps steps;
  steps.random.seed(seed);
  HeldWork held;
  for_random_parts(seed, problem_count, [&](const Sample& sample, ProtectionPart part) {
    const std::size_t spares = sample.setup.spares.size();
    DominatedTimes dominated;
    dominated.from_s.resize(sample.setup.cells.size());
    std::vector<double> least_s(sample.setup.cells.size());
    for (int round = 0; round < rounds; ++round) {
      const faults::StepModel step = steps.next();
      const double step_s = step.fixed_s + step.per_stack_s;
      const double share = step.per_stack_s / step_s;
      const double count = std::pow(10.0, round % 6);
      UnitKernel& kernel = part.kernel();
      kernel.set_step(step, count);
      for (std::size_t cell = 0; cell < least_s.size(); ++cell) {
        if (cell % spares == 0) kernel.run(cell / spares);
        least_s[cell] = kernel.least_time_s(cell % spares);
      }
      for (std::size_t cell = 0; cell < least_s.size(); ++cell) {
        if (sample.setup.cells[cell].legal_offers == 0 || !std::isfinite(least_s[cell])) continue;
        std::fill(dominated.from_s.begin(), dominated.from_s.end(), 0.0);
        dominated.from_s[cell] = least_s[cell] * (1 + 1e-6);
        ++dominated.version;
        const std::uint64_t plans = kernel.columns() / spares;
        held.at_least_overhead.hold(count * step_s, part.dominated_work_at_least_overhead(share, dominated),
                                    plans);
        held.with_tables.hold(count * step_s, part.dominated_work(share, dominated), plans);
      }
    }
  });
  return held;
}

// Slowdowns under failures that are called mild, on the longest steps for which they are, against the one
// that counts as no progress. Steps are too many to start over rather than wait.
inline Held hold_mild(std::uint64_t seed, int problem_count) {
  Held held;
  for_random_parts(seed, problem_count, [&](const Sample& sample, ProtectionPart part) {
    if (!part.is_masking()) return;
    const std::size_t spares = sample.setup.spares.size();
    const Space space{sample.setup.problem};
    const MildFailures mild{sample.setup, sample.unit.unit, space.tables()};
    std::vector<UnitKernel::ProtectionTime> times;
    for (std::size_t rate = 0; rate < sample.setup.rates.size(); ++rate) {
      for (const auto& usable : sample.unit.masking) {
        for (int number : usable) {
          const double most_s = mild.most_step_s(sample.setup.rates[rate].node, number);
          if (!(most_s > 0) || !std::isfinite(most_s)) continue;
          const auto& protection = sample.setup.problem.protections[static_cast<std::size_t>(number)];
          for (double share : {0.0, 0.3, 1.0}) {
            const faults::StepModel step{most_s * (1 - share), most_s * share};
            const double full_s = protection.scheme == faults::Scheme::kReplication
                                      ? step.fixed_s + protection.r * step.per_stack_s
                                      : most_s;
            part.kernel().set_step(step, 1e6);
            part.kernel().run(rate);
            for (std::size_t spare = 0; spare < spares; ++spare) {
              part.kernel().best_times(spare, times);
              for (const auto& time : times)
                if (time.protection == number) held.hold(time.time_s / (1e6 * full_s), faults::kMostSlowdown);
            }
          }
        }
      }
    }
  });
  return held;
}

}  // namespace trainfront::search
