#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace trainfront::faults {

// States of a cycle that run at the same speed.
struct StackClass {
  double stacks = 1;    // c: micro-batches of a step over those of a full system
  double dwell = 0;     // sum of P_k w_k, in MTBFs of one unit
  double failures = 0;  // masked failures that led into these states: sum of P_k, k >= 1
  double entered = 0;   // P_k of the first of them, k >= 1: transitions from the class before
};

inline constexpr std::size_t kStackClasses = 16;

// At most kStackClasses classes, ascending in stacks. Neighbours are merged where it changes the mean speed
// least; the merged stacks keep the mean of 1/c, so that a step without fixed part keeps its mean speed
// exactly.
std::vector<StackClass> merge_classes(std::vector<StackClass> classes);

}  // namespace trainfront::faults
