#pragma once

#include "faults/protection.hpp"
#include "faults/renewal.hpp"

namespace trainfront::faults {

// The chance to fail in the first gap, whose law is known, by the time since the last failure.
class FirstGap {
 public:
  FirstGap(const FailureLaw& law, double gap_s, double age_s)
      : gaps_(GapLaw(law), gap_s), mean_s_(gap_s), passed_s_(age_s) {}

  struct Passed {
    double fails = 0;
    double time_s = 0;  // until then, at most the length
  };
  Passed pass(double length_s) {
    const double alive = gaps_.survival(passed_s_);
    const double before = gaps_.hit_in_any(passed_s_);
    passed_s_ += length_s;
    if (!(alive > 1e-14)) return {1, 0};
    return {1 - gaps_.survival(passed_s_) / alive, mean_s_ * (gaps_.hit_in_any(passed_s_) - before) / alive};
  }

 private:
  Gaps gaps_;
  double mean_s_;
  double passed_s_;
};

}  // namespace trainfront::faults
