#pragma once

#include <array>

namespace trainfront::faults {

// Checkpoints and the work lost with the end of a cycle leave the share g of its time. With
//   s = sqrt(2 U T_s / A),  A: mean time up in a cycle, T_s: save, U: chance that the cycle's end loses work,
// the best interval tau = sqrt(2 A T_s / U) gives (1 - T_s/tau)(1 - U tau/(2A)) = (1 - s/2)^2 when cycles
// last many failures, so that their end falls anywhere between two checkpoints. When one failure ends the
// cycle its law matters: for exponential ones 1 - g solves e^(x + T_s/A) (1 - x) = 1 (Daly, FGCS 22, 2006;
// Herault and Robert, "Fault-Tolerance Techniques for High-Performance Computing", 2015). All are written
//   g = 1 - s + a_2 s^2 + a_3 s^3 + a_4 s^4 + a_5 s^5,  0 <= s < kSlowestSave,
// so that the search has one expression.
using Efficiency = std::array<double, 4>;  // a_2 ... a_5

// A save of twice the mean time up or more: no progress is made.
inline constexpr double kSlowestSave = 2.0;

inline constexpr Efficiency kManyFailures = {0.25, 0, 0, 0};

// One exponential failure: with y = g, y - 1 - log y = s^2/2, whose series is that of Stirling's (Abramowitz
// and Stegun 6.1.37 by way of Watson's lemma). Within 0.1 % to s = 1.2.
inline constexpr Efficiency kExponentialFailure = {1.0 / 3, -1.0 / 36, -1.0 / 270, -1.0 / 4320};

// One failure, of a Weibull law (1: exponential), ends the cycle: least squares of the relative error against
// the exact optimum. Within 0.02 % for the exponential law, 1 % from kLeastWeibullShape to kMostWeibullShape;
// no good beyond.
Efficiency one_failure(double weibull_shape);

// The exact g for that law, with the best interval beside it.
struct BestInterval {
  double efficiency = 1;
  double interval = 0;  // over A, from the start of a checkpoint to the start of the next
};
BestInterval exact_one_failure(double weibull_shape, double s);

inline double efficiency(const Efficiency& a, double s) {
  return 1 + s * (-1 + s * (a[0] + s * (a[1] + s * (a[2] + s * a[3]))));
}

}  // namespace trainfront::faults
