#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "faults/placement.hpp"
#include "faults/random.hpp"

namespace trainfront::faults {

// Failures of random groups until a wipe-out (or k_max), with RECTLR (rectlr.hpp) deciding after each.
struct MonteCarlo {
  std::int64_t groups = 0;
  int r = 1;
  int sub_shards = 1;
  Placement placement = Placement::kGolomb;  // random offsets are drawn anew for each trial
  bool rate_falls = true;
  int k_max = 0;  // stop there; 0: at the wipe-out
  std::uint64_t seed = 0;
  // A restart that the cycle begins with and in which failures strike too, in MTBFs of one group; only what
  // comes after it is time. Gaps between failures are drawn then, of this Weibull shape.
  double restart = 0;
  double weibull_shape = 1;
};

struct MonteCarloTrial {
  double failures = 0;                // at the wipe-out, the last one included
  double time = 0;                    // until then, in MTBFs of one group, each state with its mean dwell
  double stacks = 0;                  // S*, averaged over the time, each state weighed with its mean dwell
  double moved = 0;                   // shards moved, by failure masked
  double depth_above_fair_share = 0;  // share of the time in which S* is above ceil(N m/(N-k))/m
};

// Trials [first, last). The n-th depends on the arguments and on n alone. 1 <= r <= groups; else empty.
std::vector<MonteCarloTrial> monte_carlo(const MonteCarlo& setup, std::int64_t first, std::int64_t last);

// How long the states of a cycle last after the restart that it begins with: their mean, or drawn where that
// can fail.
class Dwells {
 public:
  Dwells(double restart, double weibull_shape) : restart_{restart}, shape_{weibull_shape} {}
  // Of the next state, whose mean gap is `mean`.
  double next(double mean, Random& random);

 private:
  double restart_;
  double shape_;
  double passed_ = 0;
};

// Of the values in order: the same values in the same order give the same bits.
struct Mean {
  double value = 0;
  double standard_error = std::numeric_limits<double>::quiet_NaN();  // NaN for fewer than two values
  double deviation = 0;
};
Mean mean_of(std::span<const double> values);

}  // namespace trainfront::faults
