#pragma once

#include <vector>

#include "faults/event_simulation.hpp"

namespace trainfront::faults {

// The states of one cycle of a simulation, for the precise forms: k = 0 ... size-1 units lost.
struct CycleStates {
  std::vector<double> survival;  // P_k
  std::vector<double> gap_s;     // mean time to the next failure
  std::vector<double> window_s;  // of a step, in which failures need a patch
  std::vector<double> patch_s;   // for a failure that led to this state; 0 for k = 0
  std::vector<double> stacks;
  std::vector<double>
      later;  // share of the state's time that comes after the restart, were the cycle as long
  std::vector<double> ends_restart;  // chance that the restart which the cycle begins with ends in the state
  double sync_s = 0;                 // the rest of a step
  double voluntary = 0;              // chance that the cycle ends with a voluntary restart
  double leaving = 0;                // that it does after the first, where that can fail
  double last_patch_s = 0;           // before it
  bool patches_repeat = true;

  std::size_t size() const { return survival.size(); }
};

CycleStates cycle_states(const Simulation& simulation, const Survival& survival);

// How work goes on in each state.
struct StateSteps {
  std::vector<double> step_s;     // with its share of a save
  std::vector<double> patched_s;  // of the state's time, in patches

  // Steps a second.
  double speed(const CycleStates& states, std::size_t k) const {
    return (1 - patched_s[k] / states.gap_s[k]) / step_s[k];
  }
};

// A failure is patched in the time of the state that it leads to. In a state of windows L, steps of U and
// gaps of mean w, a step is hit with p(L) and patched 1/(1 - p') times for ell, so that there are
//   p/(1 - p') w/(U + ell p/(1 - p'))
// patches a failure: fewer than one where several fall into a step.
StateSteps state_steps(const CycleStates& states, const FailureLaw& law, double save_per_step_s);

}  // namespace trainfront::faults
