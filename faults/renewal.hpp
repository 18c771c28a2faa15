#pragma once

#include "faults/protection.hpp"

namespace trainfront::faults {

// Failures as renewals whose gaps have the mean `gap_s` and the law's shape.
class Gaps {
 public:
  Gaps(const FailureLaw& law, double gap_s);

  // Chance of at least one failure in a window of `length` that starts at any time: (1/w) int_0^length S.
  double hit_in_any(double length) const;
  // The same just after one that fell anywhere within `before`: 1 - int_length^(length+before) S /
  // int_0^before S.
  double hit_after(double length, double before) const;
  // Variance of a gap over its squared mean.
  double squared_variation() const { return squared_variation_; }
  // S(t).
  double survival(double t) const;

 private:
  double shape_;
  double mean_;
  double scale_;
  double squared_variation_;
};

}  // namespace trainfront::faults
