#include "faults/spread.hpp"

#include <cmath>

#include "faults/spread_kernel.hpp"

namespace trainfront::faults {

double normal_quantile(double probability) {
  // Newton on the distribution function, convex below 0 and so approached from one side.
  const double tail = probability < 0.5 ? probability : 1 - probability;
  double z = 0;
  for (int i = 0; i < 100; ++i) {
    const double excess = 0.5 * std::erfc(-z / std::sqrt(2.0)) - tail;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
    const double step = excess / density;
    if (std::abs(step) <= 1e-15 * (1 + std::abs(z))) break;
    z -= step;
  }
  return probability < 0.5 ? z : -z;
}

double quantile_s(const TimeSpread& spread, double probability) {
  if (!std::isfinite(spread.mean_s) || !(spread.mean_s > spread.least_s) || !(spread.deviation_s > 0))
    return spread.mean_s;
  Moments m;
  m.least_s = spread.least_s;
  m.variance = spread.deviation_s * spread.deviation_s;
  return gamma_quantile(spread.mean_s, m, normal_quantile(probability));
}

}  // namespace trainfront::faults
