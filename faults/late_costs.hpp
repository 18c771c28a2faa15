#pragma once

#include <vector>

namespace trainfront::faults {

// How much later than its work a cost comes in a cycle, in cycles: in a run of x cycles there is, of its mean
// per cycle,
//   x - cycles (1 - e^-(y + sharp (y^2/2 + y^3/3))),  y = x/cycles,
// which is x - cycles in long runs (the second term of the renewal theorem; Asmussen, "Applied Probability
// and Queues", V) and begins as x^2, or with sharp = 1 as x^4. For the end of a cycle of two exponential
// stays it is exact, with cycles = 1/4 and sharp = 0.
struct Lag {
  double cycles = 0;   // 0 to 1
  double inverse = 0;  // 1/cycles, or 0
  double sharp = 0;    // 0 to 1
};

// What a run of few cycles has less of than the mean over many: it starts with all of its units
// (late_kernel.hpp).
struct LateCosts {
  double at_work = 0;  // of a cycle, in MTBFs of one unit
  double at_work_inverse = 0;
  double others = 0;        // at work after the first loss, over that before it
  double first_stacks = 1;  // c(1)
  double settled = 0;  // lag of the first loss's stacks in many cycles, over p (1 - p), p the time before it
  Lag further;         // of stacks beyond c(1)
  Lag ends;            // of the end of a cycle
};

// Builds them, state by state.
class LateCostsSoFar {
 public:
  struct State {
    double reached = 1;  // chance that a cycle gets there
    double alive = 1;    // chance to survive so many losses
    double age = 0;      // of the cycle then, in the mean, were all states before visited
    double stay = 0;     // in the mean
    double square = 2;   // mean square of a stay over its squared mean
    double stacks = 1;
  };
  void add(const State& state);
  // Of the cycle of the states so far: `at_work` of its time, `first_at_work` of its first state's. With the
  // chance `left` it is alive at its end.
  LateCosts costs(double at_work, double first_at_work, double left) const;

 private:
  std::vector<double> age_{0.0};    // at the beginning of each state, and the end of the last
  std::vector<double> alive_;       // likewise, but for that end
  std::vector<double> risen_{0.0};  // sums of reached x stay x (stacks - c(1)) before
  double first_stacks_ = 1;
  double dwell_ = 0;
  double moment_ = 0;        // of the ages at which the cycle's time passes
  double first_dwell_ = 0;   // of the first state
  double first_moment_ = 0;  // likewise
  double risen_moment_ = 0;
};

}  // namespace trainfront::faults
