#pragma once

#include "faults/protection.hpp"

namespace trainfront::faults {

// A law's constants, worked out once.
struct GapLaw {
  explicit GapLaw(const FailureLaw& law);
  double shape = 1;
  double mean_of_unit_scale = 1;  // Gamma(1 + 1/shape)
  double squared_variation = 1;   // variance of a gap over its squared mean
};

// Failures as renewals whose gaps have the mean `gap_s` and the law's shape.
class Gaps {
 public:
  Gaps(const GapLaw& law, double gap_s)
      : shape_(law.shape), mean_(gap_s), scale_(gap_s / law.mean_of_unit_scale) {}

  // Chance of at least one failure in a window of `length` that starts at any time: (1/w) int_0^length S.
  double hit_in_any(double length) const;
  // The same just after one that fell anywhere within `before`: 1 - int_length^(length+before) S /
  // int_0^before S.
  double hit_after(double length, double before) const;
  // S(t).
  double survival(double t) const;

 private:
  double shape_;
  double mean_;
  double scale_;
};

}  // namespace trainfront::faults
