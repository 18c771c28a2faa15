#pragma once

#include <algorithm>

#include "faults/incomplete_gamma.hpp"
#include "faults/renewal.hpp"

namespace trainfront::faults {

// How much of each state of a cycle comes after the restart that the cycle begins with, where failures strike
// during it too: in the mean E (X_k - t)^+ - E (X_(k-1) - t)^+, t the restart and X_k the time to the end of
// state k. X_k is taken for gamma distributed, which it is for exponential failures of a constant rate; the
// first state, a single gap, is exact for all laws.
class AfterRestart {
 public:
  AfterRestart(const FailureLaw& law, double restart) : gap_{law}, restart_{restart} {}

  // State by state: of `mean_dwell`, in the unit of the restart.
  double in_state(double mean_dwell) {
    ends_here_ = is_first_ && !(restart_ > 0) ? 1 : 0;
    if (!(restart_ > 0) || is_over_) {
      is_first_ = false;
      return mean_dwell;
    }
    mean_ += mean_dwell;
    variance_ += mean_dwell * mean_dwell * gap_.squared_variation;
    const Gaps gaps(gap_, mean_dwell);
    const double excess =
        is_first_ ? mean_dwell * (1 - gaps.hit_in_any(restart_)) : gamma_excess(mean_, variance_, restart_);
    const double over = is_first_ ? gaps.survival(restart_) : gamma_survival(mean_, variance_, restart_);
    ends_here_ = std::max(0.0, over - over_);
    over_ = over;
    const double left = std::clamp(excess - excess_, 0.0, mean_dwell);
    excess_ = excess;
    is_first_ = false;
    is_over_ = left > mean_dwell * (1 - 1e-12);
    return left;
  }
  // Chance that the restart is over by the end of the state last asked for.
  double is_over() const { return restart_ > 0 && !is_over_ ? over_ : 1; }
  // Chance that it ends in that state.
  double ends_in_state() const { return ends_here_; }

 private:
  GapLaw gap_;
  double restart_;
  double mean_ = 0;
  double variance_ = 0;
  double excess_ = 0;
  double over_ = 0;
  double ends_here_ = 0;
  bool is_first_ = true;
  bool is_over_ = false;
};

}  // namespace trainfront::faults
