#include "faults/cycle_states.hpp"

#include <algorithm>
#include <cmath>

#include "faults/after_restart.hpp"
#include "faults/renewal.hpp"

namespace trainfront::faults {

namespace {

// Chance of k failures within `length` MTBFs of one unit, exponential.
double chance_of_failures(double units, double k, double length, bool rate_falls) {
  if (!rate_falls) return std::exp(k * std::log(units * length) - units * length - std::lgamma(k + 1));
  const double ways = std::lgamma(units + 1) - std::lgamma(k + 1) - std::lgamma(units - k + 1);
  return std::exp(ways + k * std::log(-std::expm1(-length)) - (units - k) * length);
}

}  // namespace

CycleStates cycle_states(const Simulation& simulation, const Survival& survival) {
  const Protection& protection = simulation.protection;
  const Environment& environment = simulation.environment;
  const auto n = simulation.units;
  CycleStates states;
  std::size_t end = survival.size();
  if (protection.k_max > 0 && static_cast<std::size_t>(protection.k_max) < end) {
    end = static_cast<std::size_t>(protection.k_max);
    states.voluntary = survival[end];
  }
  Patch patch = patch_of(protection);
  if (protection.scheme == Scheme::kReplication && simulation.stacked_replication) patch = {1, 0};
  const bool needs_patch = patch.stacks > 0 || patch.steps > 0;
  states.patches_repeat = needs_patch && simulation.patch_again;
  states.sync_s = simulation.sync_needs_patch ? 0 : simulation.step.fixed_s;

  const auto patch_in = [&](std::size_t k) {
    const double c = stacks_needed(protection, n, static_cast<std::int64_t>(k));
    const double step_s = simulation.step.fixed_s + c * simulation.step.per_stack_s;
    return patch.stacks * simulation.step.per_stack_s + patch.steps * step_s + environment.detect_s +
           environment.reorder_s;
  };
  AfterRestart after_restart(simulation.law, simulation.law.failures_in_restart ? environment.restart_s : 0);
  const double restart_mtbfs = law_in(simulation.law, environment).restart_mtbfs;
  double no_more = 0;
  double starts = 0;
  for (std::size_t k = 0; k < end; ++k) {
    const auto left = static_cast<double>(n - static_cast<std::int64_t>(k));
    const double gap = environment.group_mtbf_s / (simulation.law.rate_falls ? left : static_cast<double>(n));
    const double c = stacks_needed(protection, n, static_cast<std::int64_t>(k));
    states.survival.push_back(survival[k]);
    states.gap_s.push_back(gap);
    states.stacks.push_back(c);
    states.window_s.push_back(c * simulation.step.per_stack_s + simulation.step.fixed_s - states.sync_s);
    states.patch_s.push_back(k == 0 ? 0 : patch_in(k));
    double later = after_restart.in_state(gap) / gap;
    double ends = after_restart.ends_in_state();
    if (restart_mtbfs > 0 && simulation.law.weibull_shape == 1) {
      // Exact: a state is seen after the restart if no more units were lost in it.
      ends = chance_of_failures(static_cast<double>(n), static_cast<double>(k), restart_mtbfs,
                                simulation.law.rate_falls);
      no_more = std::min(1.0, no_more + ends);
      later = no_more;
    }
    states.later.push_back(later);
    states.ends_restart.push_back(survival[k] * ends);
    starts += states.ends_restart.back();
  }
  states.leaving = states.voluntary * starts;
  if (states.voluntary > 0) {
    // The rest of the step that the failure fell into, or of the patch; then patches until none is hit.
    const GapLaw law(simulation.law);
    const double patch_s = patch_in(end);
    const double window_s = states.window_s.back();
    const double hit = needs_patch ? Gaps(law, states.gap_s.back()).hit_after(patch_s, window_s) : 0;
    states.last_patch_s = patch_s / (states.patches_repeat ? 1 - hit : 1);
  }
  return states;
}

StateSteps state_steps(const CycleStates& states, const FailureLaw& law, double save_per_step_s) {
  const GapLaw gaps(law);
  const std::size_t size = states.size();
  StateSteps steps{std::vector<double>(size), std::vector<double>(size, 0.0)};
  for (std::size_t k = 0; k < size; ++k) {
    steps.step_s[k] = states.window_s[k] + states.sync_s + save_per_step_s;
    if (k + 1 == size) break;
    const double ell = states.patch_s[k + 1];
    const Gaps after(gaps, states.gap_s[k + 1]);
    const double again = states.patches_repeat ? after.hit_after(ell, states.window_s[k]) : 0;
    const double patches = Gaps(gaps, states.gap_s[k]).hit_in_any(states.window_s[k]) / (1 - again);
    steps.patched_s[k + 1] = ell * patches * states.gap_s[k] / (steps.step_s[k] + ell * patches);
  }
  return steps;
}

}  // namespace trainfront::faults
