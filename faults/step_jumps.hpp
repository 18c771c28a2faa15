#pragma once

#include <cstddef>
#include <vector>

#include "faults/cycle_states.hpp"

namespace trainfront::faults {

// Chances of 0, 1, 2, ... failures.
using Jumps = std::vector<double>;

// What becomes of a state in a step, a save or a restart.
struct Passage {
  Jumps jumps;        // survived
  double time_s = 0;  // until its end or the cycle's
  double ends = 0;    // chance that the cycle ends in it
};

// How many units are lost in a step or a save, exactly, for exponential failures: patches that are hit are
// done again. Not thinned by survival unless said.
class StepJumps {
 public:
  // Of the states beyond a voluntary restart 64 are followed.
  StepJumps(const Simulation& simulation, const Survival& survival, const CycleStates& states);

  // The first state that is not followed.
  std::size_t end() const { return last_; }
  // Within `length` from the state of k lost units.
  Jumps from(std::size_t k, double length) const;
  // In `first` and then within `length`.
  Jumps then(std::size_t k, const Jumps& first, double length) const;
  // In a whole step that begins with k lost.
  Jumps in_step(std::size_t k) const;
  // And survived.
  Jumps thinned(std::size_t k, Jumps jumps) const;
  // From k lost units by such failures. Each that leads on from a state took that state's mean gap.
  Passage passage(std::size_t k, const Jumps& all) const;
  double gap_s(std::size_t k) const;

 private:
  const Simulation& simulation_;
  const Survival& survival_;
  const CycleStates& states_;
  std::vector<double> patch_s_;
  std::size_t last_ = 0;
  std::vector<Jumps> patched_;  // patches until one is not hit
};

}  // namespace trainfront::faults
