#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace trainfront::faults {

// States of a cycle that run at the same speed.
struct StackClass {
  double stacks = 1;    // c: micro-batches of a step over those of a full system
  double dwell = 0;     // mean time at work, in MTBFs of one unit
  double failures = 0;  // masked failures at work that led into these states
  double crowding = 0;  // their sum, each times the failures per MTBF of one unit when it struck
  double entered = 0;   // P_k of the first of them, k >= 1: transitions from the class before
  // For the spread of a cycle, in MTBFs: w_k summed, and P_k w_k (w_k (1 + cv^2) + 2 x the w before it in the
  // class).
  double stay = 0;  // these three as the dwell, but with the restart where that can fail
  double passage = 0;
  double squares = 0;
};

inline constexpr std::size_t kStackClasses = 16;

// At most kStackClasses classes, ascending in stacks. Neighbours are merged where it changes the mean speed
// least; the merged stacks keep the mean of 1/c, so that a step without fixed part keeps its mean speed
// exactly.
std::vector<StackClass> merge_classes(std::vector<StackClass> classes);

}  // namespace trainfront::faults
