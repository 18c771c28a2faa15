#pragma once

#include <span>
#include <vector>

namespace trainfront::engine {

// Median (mean of the middle two) and mean; NaN of nothing.
double median(std::vector<double> values);
double mean(std::span<const double> values);

// The value below which a share of the values lies, 0 <= share <= 1, between neighbours linearly; NaN of
// nothing.
double quantile(std::vector<double> values, double share);

// Kendall's tau-b of two paired series: 1 the same order, -1 the reverse; ties corrected (Kendall, The
// treatment of ties in ranking problems, Biometrika 1945). NaN if either is constant or there are fewer than
// two pairs.
double kendall_tau(std::span<const double> a, std::span<const double> b);

// How much slower, in parts of the best, the choice by `predicted` speed is than the best by `measured`
// speed: max(measured) / measured[argmax predicted] - 1. Both > 0, equally many, at least one.
double regret(std::span<const double> predicted, std::span<const double> measured);

}  // namespace trainfront::engine
