#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/cycle_states.hpp"
#include "faults/incomplete_gamma.hpp"
#include "faults/precise_time.hpp"
#include "faults/renewal.hpp"

namespace trainfront::faults {
namespace {

// n sum over i >= 1 of R(begin + i tau): work of whole checkpoints in cycles of that mean and variance.
double saved_steps(double n, double tau, double begin, double mean, double variance,
                   const Gaps* one_failure) {
  double sum = 0;
  for (int i = 1; i < 200'000; ++i) {
    const double t = begin + i * tau;
    const double r = one_failure != nullptr ? one_failure->survival(t) : gamma_survival(mean, variance, t);
    sum += r;
    if (r < 1e-13) break;
  }
  return n * sum;
}

}  // namespace

double available(const PreciseTime& time, const Simulation& simulation) {
  return 1 - (time.restarts_s + time.saves * simulation.environment.save_s) / time.cycle_s;
}

PreciseTime fluid_time(const Simulation& simulation, const Survival& survival) {
  const CycleStates states = cycle_states(simulation, survival);
  const GapLaw law(simulation.law);
  const Environment& environment = simulation.environment;
  const auto n = static_cast<double>(simulation.checkpoint_every);
  const double save_per_step = n > 0 ? environment.save_s / n : 0;
  const std::size_t size = states.size();

  const StateSteps steps = state_steps(states, simulation.law, save_per_step);
  const std::vector<double>& step_s = steps.step_s;

  PreciseTime result;
  double cycle = 0;    // mean length, without a restart that is not part of it
  double up = 0;       // A
  double work = 0;     // W
  double squares = 0;  // E[length^2]
  double before = 0;   // sum of gaps before k
  double stacked = 0;
  for (std::size_t k = 0; k < size; ++k) {
    const double p = states.survival[k];
    const double w = states.gap_s[k];
    const double cv2 = law.squared_variation;
    cycle += p * w;
    up += p * w * states.later[k];
    work += p * (w - steps.patched_s[k]) * states.later[k] / step_s[k];
    stacked += p * w * states.later[k] * states.stacks[k];
    squares += p * w * (w * (1 + cv2) + 2 * before);
    before += w;
    result.failures += p;
    if (k + 1 < size) {
      // The step in progress ends at its own speed.
      work += states.survival[k + 1] * states.later[k] * (states.window_s[k + 1] - states.window_s[k]) *
              states.window_s[k] / (2 * step_s[k] * step_s[k + 1]);
    }
  }
  const double losing = 1 - states.voluntary;
  const double variance = std::max(0.0, squares - cycle * cycle);
  double saved = work;
  double saves = 0;  // that are not cut short
  if (n > 0) {
    const double tau = n * up / work;
    const Gaps gaps(law, states.gap_s[0]);
    const double begin = simulation.law.failures_in_restart ? environment.restart_s : 0;
    const bool summed = cycle / tau < 5000;
    const double whole =
        summed ? saved_steps(n, tau, begin, cycle, variance, size == 1 ? &gaps : nullptr) : work - n / 2;
    saved = work - losing * (work - whole);
    saves = std::max(0.0, whole / n);
  } else if (losing > 0) {
    saved = 0;
  }
  // A voluntary restart waits for the rest of the step that the failure fell into, which is work, or of the
  // patch, which is none.
  const double in_patch = steps.patched_s.back() / states.gap_s.back();
  const double step_left_s = states.window_s.back() / 2 + states.sync_s;
  const double patch_left_s = states.patch_s.back() / 2;
  if (states.leaving > 0 && saved > 0)
    saved += states.leaving * (1 - in_patch) * step_left_s / (states.window_s.back() + states.sync_s);
  result.cycle_s = cycle + states.leaving * ((1 - in_patch) * step_left_s + in_patch * patch_left_s +
                                             states.last_patch_s + environment.save_s);
  if (!simulation.law.failures_in_restart) {
    result.cycle_s +=
        losing * environment.restart_s + states.voluntary * (environment.restart_s - environment.detect_s);
  }
  result.saved_steps = saved;
  result.checkpoint_every = simulation.checkpoint_every;
  result.checkpoint_interval_s = n > 0 ? n * up / work : 0;
  result.mean_stacks = stacked / up;
  result.restarts_s = (simulation.law.failures_in_restart
                           ? cycle - up
                           : losing * environment.restart_s +
                                 states.voluntary * (environment.restart_s - environment.detect_s));
  result.saves = saves + states.leaving;
  const double ratio = result.cycle_s / saved;
  const double without = simulation.step.fixed_s + simulation.step.per_stack_s;
  result.time_s = saved > 0 && ratio < kMostSlowdown * without ? static_cast<double>(simulation.steps) * ratio
                                                               : std::numeric_limits<double>::infinity();
  result.availability = available(result, simulation);
  return result;
}

}  // namespace trainfront::faults
