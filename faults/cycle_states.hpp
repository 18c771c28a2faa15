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
      later;                // share of the state's time that comes after the restart, were the cycle as long
  double sync_s = 0;        // the rest of a step
  double voluntary = 0;     // chance that the cycle ends with a voluntary restart
  double last_patch_s = 0;  // before it
  bool patches_repeat = true;

  std::size_t size() const { return survival.size(); }
};

CycleStates cycle_states(const Simulation& simulation, const Survival& survival);

}  // namespace trainfront::faults
