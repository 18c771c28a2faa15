#pragma once

namespace trainfront::faults {

// Q(a, x) = Gamma(a, x)/Gamma(a): the chance that a gamma variable of shape a and scale 1 is above x. a > 0,
// x >= 0. Series and continued fraction (Abramowitz and Stegun 6.5.29, 6.5.31).
double upper_gamma(double a, double x);

// The chance that something of that mean and variance, taken for gamma distributed, is above x.
double gamma_survival(double mean, double variance, double x);
// And how much it is above x in the mean, E (X - x)^+.
double gamma_excess(double mean, double variance, double x);

}  // namespace trainfront::faults
