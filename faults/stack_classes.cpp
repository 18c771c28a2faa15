#include "faults/stack_classes.hpp"

#include <limits>

namespace trainfront::faults {
namespace {

StackClass merged(const StackClass& a, const StackClass& b) {
  const double dwell = a.dwell + b.dwell;
  const double work = a.dwell / a.stacks + b.dwell / b.stacks;
  StackClass both;
  both.stacks = work > 0 ? dwell / work : b.stacks;
  both.dwell = dwell;
  both.failures = a.failures + b.failures;
  both.crowding = a.crowding + b.crowding;
  both.entered = a.entered;
  both.stay = a.stay + b.stay;
  both.passage = a.passage + b.passage;
  both.squares = a.squares + b.squares + 2 * a.passage * b.stay;
  return both;
}

// Spread of 1/c that merging hides.
double loss(const StackClass& a, const StackClass& b) {
  const double difference = 1 / a.stacks - 1 / b.stacks;
  const double dwell = a.dwell + b.dwell;
  return dwell > 0 ? a.dwell * b.dwell / dwell * difference * difference : 0;
}

// A first pass over very many states: joins neighbours closer than `ratio` in c.
std::vector<StackClass> coarsen(const std::vector<StackClass>& classes, double ratio) {
  std::vector<StackClass> result;
  double start = 0;
  for (const StackClass& state : classes) {
    if (!result.empty() && state.stacks <= start * ratio) {
      result.back() = merged(result.back(), state);
    } else {
      result.push_back(state);
      start = state.stacks;
    }
  }
  return result;
}

}  // namespace

std::vector<StackClass> merge_classes(std::vector<StackClass> classes) {
  for (double ratio = 1.005; classes.size() > 16 * kStackClasses; ratio *= ratio) {
    classes = coarsen(classes, ratio);
  }
  while (classes.size() > kStackClasses) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < classes.size(); ++i) {  // the first, the full system, stays apart
      const double hidden = loss(classes[i], classes[i + 1]);
      if (hidden < least) {
        least = hidden;
        best = i;
      }
    }
    classes[best] = merged(classes[best], classes[best + 1]);
    classes.erase(classes.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  return classes;
}

}  // namespace trainfront::faults
