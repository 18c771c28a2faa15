#include "faults/short_run.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "faults/cycle_states.hpp"

namespace trainfront::faults {
namespace {

// What one cycle does, by steps done: at the middle of each piece of `steps`.
struct CycleByWork {
  double piece = 0;             // steps
  std::vector<double> time_s;   // of the piece
  std::vector<double> losing;   // chance that the cycle ends in it and loses work
  std::vector<double> leaving;  // or with a voluntary restart
};

CycleByWork by_work(const CycleStates& states, const StateSteps& steps, double all_steps,
                    std::size_t pieces) {
  const std::size_t size = states.size();
  CycleByWork cycle;
  cycle.piece = all_steps / static_cast<double>(pieces);
  std::vector<double> seconds(size);
  std::vector<double> leave(size);  // of state k within a small piece, as a rate per step
  std::vector<double> stays(size);  // in the cycle when it is left
  double most = 0;
  for (std::size_t k = 0; k < size; ++k) {
    const double speed = steps.speed(states, k);
    seconds[k] = 1 / speed;
    leave[k] = 1 / (states.gap_s[k] * speed);
    most = std::max(most, leave[k]);
    stays[k] = k + 1 < size ? states.survival[k + 1] / states.survival[k] : 0;
  }
  const double voluntary = states.voluntary / states.survival[size - 1];
  // Small enough that no state is left twice in a piece.
  const auto parts = static_cast<std::size_t>(std::ceil(8 * most * cycle.piece + 1));
  const double part = cycle.piece / static_cast<double>(parts);
  std::vector<double> chance(size, 0.0);
  chance[0] = 1;
  std::size_t reached = 1;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    double time_s = 0;
    double losing = 0;
    double leaving = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      double entering = 0;
      const std::size_t end = reached;
      for (std::size_t k = 0; k < end; ++k) {
        const double left = chance[k] * -std::expm1(-leave[k] * part);
        // Half of what leaves does so later than the middle.
        time_s += (chance[k] - 0.5 * left + 0.5 * entering) * seconds[k] * part;
        chance[k] += entering - left;
        entering = left * stays[k];
        const double ends = left - entering;
        const double willingly = k + 1 == size ? ends * voluntary : 0;
        leaving += willingly;
        losing += ends - willingly;
      }
      if (entering > 1e-14 && end < size) {
        chance[end] += entering;
        reached = end + 1;
      }
    }
    cycle.time_s.push_back(time_s);
    cycle.losing.push_back(losing);
    cycle.leaving.push_back(leaving);
  }
  return cycle;
}

// Of the steps done by an end of a cycle, those that were saved, over the piece from `begin` to `end`, in the
// mean: the integral of n floor(x/n).
double saved_in_piece(double begin, double end, double every) {
  const auto to = [&](double x) {
    const double m = std::floor(x / every);
    return every * (every * m * (m - 1) / 2 + m * (x - every * m));
  };
  return (to(end) - to(begin)) / (end - begin);
}

}  // namespace

double start_gain_s(const Simulation& simulation, const Survival& survival, const PreciseTime& fluid) {
  const double all = static_cast<double>(simulation.steps);
  const double cycles = all / fluid.saved_steps;
  if (!std::isfinite(fluid.time_s) || simulation.law.failures_in_restart || !(fluid.saved_steps > 0) ||
      cycles > kLongRunCycles)
    return 0;
  const CycleStates states = cycle_states(simulation, survival);
  const auto every = static_cast<double>(simulation.checkpoint_every);
  const double save_per_step_s = every > 0 ? simulation.environment.save_s / every : 0;
  const StateSteps steps = state_steps(states, simulation.law, save_per_step_s);
  constexpr std::size_t kPieces = 600;
  const CycleByWork cycle = by_work(states, steps, all, kPieces);

  const Environment& environment = simulation.environment;
  const double restart_s = environment.restart_s;
  const double voluntary_s =
      environment.save_s + environment.restart_s - environment.detect_s + states.last_patch_s;
  // A(j): of j pieces. After an end, all but what was saved remain, between two whole numbers of pieces; at
  // most j, where A(j) itself stands on the right.
  std::vector<double> saved;  // pieces
  for (std::size_t i = 0; i < kPieces; ++i) {
    const double begin = cycle.piece * static_cast<double>(i);
    saved.push_back(every > 0 ? saved_in_piece(begin, begin + cycle.piece, every) / cycle.piece : 0);
  }
  std::vector<double> mean_s(kPieces + 1, 0.0);
  double passed_s = 0;
  for (std::size_t j = 1; j <= kPieces; ++j) {
    passed_s += cycle.time_s[j - 1];
    double sum = passed_s;
    double own = 0;
    for (std::size_t i = 0; i < j; ++i) {
      const double done = static_cast<double>(i) + 0.5;
      const auto add = [&](double chance, double down_s, double kept) {
        if (!(chance > 0)) return;
        const double remain = std::max(0.0, static_cast<double>(j) - kept);
        const auto below = std::min(static_cast<std::size_t>(remain), j - 1);
        const double above = remain - static_cast<double>(below);
        sum += chance * (down_s + (1 - above) * mean_s[below]);
        if (below + 1 < j) {
          sum += chance * above * mean_s[below + 1];
        } else {
          own += chance * above;
        }
      };
      add(cycle.losing[i], restart_s, saved[i]);
      add(cycle.leaving[i], voluntary_s, done);
    }
    mean_s[j] = sum / (1 - own);
  }
  // The run's last interval needs no save.
  const double last_save_s = every > 0 && all >= every ? simulation.environment.save_s : 0;
  return mean_s[kPieces] - last_save_s - fluid.time_s;
}

}  // namespace trainfront::faults
