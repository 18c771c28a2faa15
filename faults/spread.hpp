#pragma once

#include <optional>

namespace trainfront::faults {

// How far the time of one run may lie from its mean (spread_kernel.hpp).
struct TimeSpread {
  double mean_s = 0;       // infinity: no progress
  double least_s = 0;      // without any failure, checkpoints included
  double deviation_s = 0;  // standard deviation
  double cycles = 0;       // mean number in the run; quantiles are rough below three
};

// The time that is not exceeded with that probability, 0 < probability < 1.
double quantile_s(const TimeSpread& spread, double probability);

// The standard normal distribution's; 0 < probability < 1.
double normal_quantile(double probability);

// With what probability a time must hold. Outside of these the quantiles are not good enough, and below a
// half the mean is the more cautious figure anyway.
inline constexpr double kLeastProbability = 0.5;
inline constexpr double kMostProbability = 0.99;

struct Chance {
  explicit Chance(double the_probability)
      : probability{the_probability}, deviate{normal_quantile(the_probability)} {}
  double probability;
  double deviate;  // normal_quantile(probability)
};

}  // namespace trainfront::faults
