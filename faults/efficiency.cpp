#include "faults/efficiency.hpp"

#include <cmath>

#include "faults/least_squares.hpp"

namespace trainfront::faults {
namespace {

// x with e^(x + t)(1 - x) = 1, i.e. x + t + log(1 - x) = 0, by Newton from below the root's mirror.
double exponential_work(double t) {
  if (t <= 0) return 0;
  double x = -std::expm1(-std::sqrt(2 * t));  // starts at 1 - e^-s, below the root
  for (int i = 0; i < 60; ++i) {
    const double step = (x + t + std::log1p(-x)) * (1 - x) / x;
    const double next = x + step;
    if (!(next < 1)) {
      x = 0.5 * (1 + x);
      continue;
    }
    if (std::abs(step) < 1e-15) return next;
    x = next;
  }
  return x;
}

// Mean work saved in a cycle of mean length 1, checkpoints from start to start tau apart: (tau - T_s) sum S(i
// tau).
double saved_work(double shape, double scale, double save, double tau) {
  double sum = 0;
  for (int i = 1; i < 100'000; ++i) {
    const double survival = std::exp(-std::pow(i * tau / scale, shape));
    sum += survival;
    if (survival < 1e-14) break;
  }
  return (tau - save) * sum;
}

}  // namespace

BestInterval exact_one_failure(double weibull_shape, double s) {
  const double save = s * s / 2;
  if (save <= 0) return {};
  if (weibull_shape == 1) {
    const double x = exponential_work(save);
    return {1 - x, x + save};
  }
  const double scale = 1 / std::tgamma(1 + 1 / weibull_shape);
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(save);
  double high = std::log(save + 4 * s + 4);
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double at_a = saved_work(weibull_shape, scale, save, std::exp(a));
  double at_b = saved_work(weibull_shape, scale, save, std::exp(b));
  for (int i = 0; i < 28; ++i) {
    if (at_a > at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = saved_work(weibull_shape, scale, save, std::exp(a));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = saved_work(weibull_shape, scale, save, std::exp(b));
    }
  }
  const double tau = std::exp((low + high) / 2);
  return {saved_work(weibull_shape, scale, save, tau), tau};
}

Efficiency one_failure(double weibull_shape) {
  // The sum over nodes of ((1 - s + sum a_j s^j - g)/g)^2.
  LeastSquares<4> fit;
  constexpr int kNodes = 16;
  for (int node = 0; node < kNodes; ++node) {
    const double s = kSlowestSave * 0.5 * (1 - std::cos(3.14159265358979323846 * (node + 0.5) / kNodes));
    if (s < 0.15) continue;  // costly sums, and nothing to learn: g = 1 - s there
    const double g = exact_one_failure(weibull_shape, s).efficiency;
    fit.add({s * s, s * s * s, s * s * s * s, s * s * s * s * s}, g - 1 + s, 1 / g);
  }
  return fit.solve();
}

}  // namespace trainfront::faults
