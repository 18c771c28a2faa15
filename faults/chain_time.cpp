#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/cycle_states.hpp"
#include "faults/precise_time.hpp"
#include "faults/step_jumps.hpp"

namespace trainfront::faults {
namespace {

class Chain {
 public:
  Chain(const Simulation& simulation, const Survival& survival)
      : simulation_(simulation),
        states_(cycle_states(simulation, survival)),
        jumps_(simulation, survival, states_) {}

  struct Cycle {
    double steps = 0;      // saved
    double saves = 0;      // that were not cut short
    double leaving = 0;    // chance that it ends with a voluntary restart
    double restart_s = 0;  // that it begins with, where that can fail
    double time_s = 0;     // with that, but no other restart and no voluntary save
  };
  Cycle cycle() {
    const std::size_t size = states_.size();
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(1, simulation_.checkpoint_every));
    std::vector<std::vector<double>> inflow(size, std::vector<double>());
    const auto flow_into = [&](std::size_t k) -> std::vector<double>& {
      if (inflow[k].empty()) inflow[k].assign(n, 0.0);
      return inflow[k];
    };
    Cycle cycle;
    if (simulation_.law.failures_in_restart) {
      const Jumps first = jumps_.thinned(0, jumps_.from(0, simulation_.environment.restart_s));
      // Where a voluntary restart becomes due in it, it begins anew.
      for (std::size_t k = 0; k < size; ++k)
        cycle.restart_s += states_.survival[k] * states_.gap_s[k] * (1 - states_.later[k]);
      cycle.time_s = cycle.restart_s;
      for (std::size_t h = 0; h < first.size() && h < size; ++h) flow_into(h)[0] = first[h];
    } else {
      flow_into(0)[0] = 1;
    }

    for (std::size_t k = 0; k < size; ++k) {
      if (inflow[k].empty()) continue;
      const Jumps in_step = jumps_.in_step(k);
      const Passage step = jumps_.passage(k, in_step);
      Jumps staying = in_step;
      staying.resize(std::min(staying.size(), size - k));
      const double left_at = left(step.jumps, k);
      const Passage with_save = save_after(k, step, staying);
      // Visits to (k, i unsaved steps): v_i = in_i + stay v_(i-1), and back from n-1 to 0 by way of a save.
      std::vector<double>& visits = inflow[k];
      const double stay = step.jumps[0];
      double carried = 0;
      double around = 1;
      for (std::size_t i = 0; i < n; ++i) {
        carried = visits[i] + stay * carried;
        if (i > 0) around *= stay;
      }
      // carried: visits to n-1 without the loop through the save; the loop adds as often again.
      const double loops = with_save.jumps[0] * carried / (1 - with_save.jumps[0] * around);
      visits[0] += loops;
      for (std::size_t i = 1; i < n; ++i) visits[i] += stay * visits[i - 1];

      for (std::size_t i = 0; i < n; ++i) {
        cycle.time_s += visits[i] * step.time_s;
        // k_max is reached: all of the i + 1 steps are saved.
        cycle.steps += visits[i] * left_at * static_cast<double>(i + 1);
        cycle.leaving += visits[i] * left_at;
      }
      cycle.time_s += visits[n - 1] * with_save.time_s;
      for (const double p : with_save.jumps) cycle.saves += visits[n - 1] * p;
      cycle.leaving += visits[n - 1] * left(with_save.jumps, k);
      for (std::size_t h = 1; h < with_save.jumps.size() && k + h < size; ++h)
        flow_into(k + h)[0] += visits[n - 1] * with_save.jumps[h];
      for (std::size_t h = 1; h < step.jumps.size() && k + h < size; ++h) {
        std::vector<double>& into = flow_into(k + h);
        for (std::size_t i = 0; i + 1 < n; ++i) into[i + 1] += visits[i] * step.jumps[h];
      }
      visits = {};
    }
    cycle.steps += cycle.saves * static_cast<double>(n);
    return cycle;
  }

 private:
  // Of k + h lost units, those for which a voluntary restart is due.
  double left(const Jumps& jumps, std::size_t k) const {
    double sum = 0;
    for (std::size_t h = states_.size() - k; h < jumps.size(); ++h) sum += jumps[h];
    return sum;
  }

  // The save alone, for those that no restart is due for after the step.
  Passage save_after(std::size_t k, const Passage& step, const Jumps& staying) const {
    const double save_s = simulation_.environment.save_s;
    Passage result;
    result.jumps = jumps_.thinned(k, jumps_.then(k, staying, save_s));
    for (std::size_t h = 0; h < staying.size() && save_s > 0; ++h) {
      if (step.jumps[h] > 0)
        result.time_s += step.jumps[h] * jumps_.passage(k + h, jumps_.from(k + h, save_s)).time_s;
    }
    return result;
  }

  const Simulation& simulation_;
  CycleStates states_;
  StepJumps jumps_;
};

}  // namespace

PreciseTime chain_time(const Simulation& simulation, const Survival& survival) {
  PreciseTime result = fluid_time(simulation, survival);
  const Chain::Cycle cycle = Chain(simulation, survival).cycle();
  const Environment& environment = simulation.environment;
  result.saved_steps = cycle.steps;
  result.saves = cycle.saves + cycle.leaving;
  result.restarts_s = simulation.law.failures_in_restart
                          ? cycle.restart_s
                          : environment.restart_s - cycle.leaving * environment.detect_s;
  result.cycle_s = cycle.time_s + cycle.leaving * environment.save_s +
                   (simulation.law.failures_in_restart ? 0 : result.restarts_s);
  result.availability = available(result, simulation);
  const double ratio = result.cycle_s / result.saved_steps;
  const double without = simulation.step.fixed_s + simulation.step.per_stack_s;
  result.time_s = result.saved_steps > 0 && ratio < kMostSlowdown * without
                      ? static_cast<double>(simulation.steps) * ratio
                      : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace trainfront::faults
