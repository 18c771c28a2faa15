#include "faults/incomplete_gamma.hpp"

#include <cmath>
#include <limits>

namespace trainfront::faults {

double upper_gamma(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr int kTerms = 100'000;
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int i = 1; i < kTerms && term > kEpsilon * sum; ++i) {
      term *= x / (a + i);
      sum += term;
    }
    return 1 - front * sum;
  }
  // Lentz's method.
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < kTerms; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  return front * h;
}

double gamma_survival(double mean, double variance, double x) {
  if (x <= 0) return 1;
  if (variance <= 0) return x < mean ? 1 : 0;
  return upper_gamma(mean * mean / variance, x * mean / variance);
}

double gamma_excess(double mean, double variance, double x) {
  if (x <= 0) return mean - x;
  if (variance <= 0) return x < mean ? mean - x : 0;
  const double a = mean * mean / variance;
  const double scaled = x * mean / variance;
  return mean * upper_gamma(a + 1, scaled) - x * upper_gamma(a, scaled);
}

}  // namespace trainfront::faults
