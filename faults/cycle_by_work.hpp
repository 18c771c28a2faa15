#pragma once

#include <cstddef>
#include <vector>

#include "faults/cycle_states.hpp"

namespace trainfront::faults {

// What one cycle does, by the steps done in it, in pieces of as many steps each; all are chances and mean
// times of a cycle that is still alive at its start, whatever becomes of it.
struct CycleByWork {
  double piece = 1;                 // steps
  std::size_t interval = 0;         // pieces from a save to the next; 0: none, or smeared over the pieces
  double smeared = 0;               // the interval in pieces where it is shorter than one; else 0
  std::vector<double> time_s;       // of the piece, with smeared saves
  std::vector<double> losing;       // chance that the cycle ends in it and loses work
  std::vector<double> leaving;      // or, after it, with a voluntary restart
  std::vector<double> save_s;       // of a save that follows it; 0 where none does
  std::vector<double> save_done;    // chance that it is not cut short
  std::vector<double> save_losing;  // that the cycle ends in it
  std::vector<double> alive;        // chance that it has not ended by the end of the piece and its save
  double leave_s = 0;    // a voluntary restart waits for the end of a step, where that is not in the piece
  double leaves_at = 1;  // of the piece: where it is left in the mean
};

// How a cycle begins: the chance of so many lost units, and how old the gap between failures is.
struct CycleStart {
  std::vector<double> chance{1.0};
  double gap_age_s = 0;
};

// Step by step, exact for exponential failures; of other laws the first gap is.
CycleByWork cycle_by_steps(const Simulation& simulation, const Survival& survival, const CycleStates& states,
                           const CycleStart& start);

// As a flow through the states: in the steps done, state k passes to k + 1 at 1/(w_k v_k), with v_k steps a
// second and w_k the mean gap. Knows of bursts. At least `pieces` pieces, if the run has as many steps.
CycleByWork cycle_by_flow(const Simulation& simulation, const Survival& survival, const CycleStates& states,
                          const CycleStart& start, std::size_t pieces);

}  // namespace trainfront::faults
