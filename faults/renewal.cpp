#include "faults/renewal.hpp"

#include <cmath>

#include "faults/incomplete_gamma.hpp"

namespace trainfront::faults {

GapLaw::GapLaw(const FailureLaw& law) : shape(law.weibull_shape) {
  if (shape == 1) return;
  mean_of_unit_scale = std::tgamma(1 + 1 / shape);
  squared_variation = std::tgamma(1 + 2 / shape) / (mean_of_unit_scale * mean_of_unit_scale) - 1;
}

double Gaps::hit_in_any(double length) const {
  if (shape_ == 1) return -std::expm1(-length / mean_);
  // int_0^x S = mean P(1/k, (x/scale)^k).
  return 1 - upper_gamma(1 / shape_, std::pow(length / scale_, shape_));
}

double Gaps::hit_after(double length, double before) const {
  if (shape_ == 1) return -std::expm1(-length / mean_);
  const double at_start = hit_in_any(before);
  return 1 - (hit_in_any(before + length) - hit_in_any(length)) / at_start;
}

double Gaps::survival(double t) const {
  return std::exp(-std::pow(t / scale_, shape_));
}

}  // namespace trainfront::faults
