#include "faults/precise_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/least_of_whole_numbers.hpp"
#include "faults/short_run.hpp"

namespace trainfront::faults {
namespace {

// Steps between checkpoints that the chain can hold; with more, hardly any cycle loses work.
constexpr std::int64_t kLongestChain = 2000;

// Of so small a part of a cycle the chain changes nothing that shows.
constexpr double kBarelyBegun = 0.1;
// States of the chain, some seconds' worth. With more there are so many units that the fluid form is good.
constexpr double kMostChainStates = 3e7;

std::int64_t best_interval(Simulation simulation, const Survival& survival, std::int64_t start) {
  const auto time = [&](std::int64_t n) {
    simulation.checkpoint_every = n;
    return fluid_time(simulation, survival).time_s;
  };
  return least_of_whole_numbers(time, start, simulation.steps);
}

// Of those that no form is good for. The chain is, of exponential failures; an elastic layout's last patches
// take more than it knows.
bool is_known(const Simulation& simulation) {
  const Scheme scheme = simulation.protection.scheme;
  const bool patched = scheme == Scheme::kElastic ||
                       (scheme == Scheme::kSpare && simulation.protection.r > 1) ||
                       (scheme == Scheme::kReplication && simulation.stacked_replication);
  if (!patched || (scheme != Scheme::kElastic && simulation.law.weibull_shape == 1)) return true;
  const double fewest_steps = scheme == Scheme::kElastic ? 2 : 1;
  return simulation.environment.group_mtbf_s >= fewest_steps * static_cast<double>(simulation.units) *
                                                    (simulation.step.fixed_s + simulation.step.per_stack_s);
}

PreciseTime unknown(PreciseTime time) {
  time.time_s = time.availability = std::numeric_limits<double>::quiet_NaN();
  time.checkpoint_interval_s = 0;
  return time;
}

PreciseTime endless(PreciseTime time) {
  time.time_s = std::numeric_limits<double>::infinity();
  time.availability = 0;
  return time;
}

}  // namespace

std::optional<Survival> survival_of(const Simulation& simulation) {
  const std::int64_t copies = simulation.state_copies < 0 ? simulation.units : simulation.state_copies;
  Protection protection = simulation.protection;
  if (protection.scheme == Scheme::kReplication && simulation.stacked_replication) {
    protection.scheme = Scheme::kSpare;  // lives as long
  }
  if (!is_valid(simulation.environment) || protection.k_max < 0 ||
      check(simulation.units, protection, simulation.law, copies) != ProtectionError::kNone) {
    return std::nullopt;
  }
  const bool random = simulation.placement == Placement::kRandom && protection.scheme == Scheme::kSpare;
  Survival survival = random ? mean_random_survival(simulation.units, protection.r)
                             : protection_survival(simulation.units, protection, copies, simulation.placement,
                                                   simulation.seed);
  if (random && copies < simulation.units) {
    survival = both(survival,
                    family_survival(simulation.units - simulation.units % copies, static_cast<int>(copies)));
  }
  return survival;
}

LongRun long_run(const Simulation& simulation, const Survival& survival) {
  const double step_s = simulation.step.fixed_s + simulation.step.per_stack_s;
  if (std::isinf(simulation.environment.group_mtbf_s)) {
    PreciseTime never;
    never.mean_stacks = stacks_needed(simulation.protection, simulation.units, 0);
    never.time_s = static_cast<double>(simulation.steps) *
                   (simulation.step.fixed_s + never.mean_stacks * simulation.step.per_stack_s);
    never.availability = 1;
    const auto k_max = static_cast<std::size_t>(simulation.protection.k_max);
    const std::size_t states = k_max > 0 ? std::min(k_max, survival.size()) : survival.size();
    for (std::size_t k = 0; k < states; ++k) never.failures += survival[k];
    return {never, 0};
  }

  if (!is_known(simulation)) {
    PreciseTime time = unknown(fluid_time(simulation, survival));
    // A step is hardly ever done without a failure.
    time.checkpoint_every = simulation.checkpoint_every < 0 ? 1 : simulation.checkpoint_every;
    return {time, 0};
  }

  Simulation settled = simulation;
  if (simulation.checkpoint_every < 0) {
    Protection protection = simulation.protection;
    if (protection.scheme == Scheme::kReplication && simulation.stacked_replication)
      protection.scheme = Scheme::kSpare;
    const CycleTable table =
        cycle_table(simulation.units, protection, law_in(simulation.law, simulation.environment), survival);
    settled.checkpoint_every = best_checkpoint_steps(table, simulation.step, simulation.environment);
    if (settled.checkpoint_every == 0 && simulation.protection.k_max == 0) settled.checkpoint_every = 1;
    // The square-root rule is within 0.02 % of the optimum once an interval has many steps.
    if (settled.checkpoint_every > 0 && (settled.checkpoint_every < 100 || survival.size() < 5000)) {
      settled.checkpoint_every = best_interval(settled, survival, settled.checkpoint_every);
    }
  }
  const double mtbf_s = simulation.environment.group_mtbf_s / static_cast<double>(simulation.units);
  PreciseTime fluid = fluid_time(settled, survival);
  // Cycles that leave by themselves need few checkpoints or none: any interval that they hardly ever fill.
  const auto beyond = static_cast<std::int64_t>(std::min(1e9, 64 + 8 * fluid.saved_steps));
  const bool hardly_saves = settled.checkpoint_every == 0 || settled.checkpoint_every > beyond;
  const std::int64_t chain_every = hardly_saves ? beyond : settled.checkpoint_every;
  // Of so short a run the form of short runs knows all.
  const bool is_beside =
      simulation.law.weibull_shape == 1 && simulation.steps <= kToldApart && is_short_run(simulation, fluid);
  const bool is_first_of_many = static_cast<double>(simulation.steps) < kBarelyBegun * fluid.saved_steps;
  const bool is_too_long =
      chain_every > kLongestChain ||
      static_cast<double>(chain_every) * static_cast<double>(survival.size()) > kMostChainStates;
  const bool is_due = mtbf_s < kChainBelowSteps * step_s && !is_beside && !is_first_of_many;
  if (!is_due || is_too_long) {
    fluid.is_rough = is_due;
    return {std::isfinite(fluid.time_s) ? fluid : endless(fluid), 0};
  }
  Simulation exponential = settled;
  exponential.law.weibull_shape = 1;
  exponential.checkpoint_every = chain_every;
  PreciseTime chain = chain_time(exponential, survival);
  chain.checkpoint_every = fluid.checkpoint_every;
  chain.checkpoint_interval_s = fluid.checkpoint_interval_s;
  if (!std::isfinite(chain.time_s)) return {endless(chain), 0};
  if (simulation.law.weibull_shape != 1) {
    const double law = fluid.time_s / fluid_time(exponential, survival).time_s;
    if (!std::isfinite(law) || !(law > 0)) return {unknown(chain), 0};
    chain.time_s *= law;
    chain.saved_steps /= law;
    chain.saves /= law;
    chain.availability = available(chain, simulation);
  }
  return {chain, chain.time_s - fluid.time_s};
}

PreciseTime precise_time(const Simulation& simulation) {
  const std::optional<Survival> survival = survival_of(simulation);
  if (!survival) return endless({});
  const LongRun mean = long_run(simulation, *survival);
  PreciseTime time = mean.time;
  Simulation run = simulation;
  if (is_short_run(run, time)) take_as_short_run(run, *survival, mean.more_s, time);
  return time;
}

}  // namespace trainfront::faults
