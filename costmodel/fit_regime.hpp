#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "costmodel/collective_time.hpp"

namespace trainfront::costmodel {

// Constants, none below 0, of 1, ranks - 1, the bytes' time on the line, a rank's share of it, and the
// line's time's root: what one protocol of a collective within a domain takes.
using RegimeConstants = std::array<double, 5>;

inline constexpr int kRegimeTerms = std::tuple_size_v<RegimeConstants>;
inline constexpr int kNoRootTerms = kRegimeTerms - 1;  // a protocol of low latency has no slow start

// What each constant is multiplied by.
RegimeConstants regime_terms(Collective collective, double link_bytes_per_s, double bytes, double ranks);

struct RegimePoint {
  RegimeConstants terms{};
  double seconds = 0;
  double bytes = 0, ranks = 0;
};

struct Regime {
  RegimeConstants constants{};
  double cost = 0;
};

// Constants that points are held near where they say little.
struct RegimePull {
  RegimeConstants constants{};
  // Of a constant that is off by all of itself, against a point that is off by all of its time. A constant
  // that makes next to nothing of the points' times counts as one that would make all of them. 0: nothing is
  // held.
  double weight = 0;
};

// The first `terms` constants, fitted on relative errors, outliers counted by their absolute error. Without
// points those of the pull.
Regime fit_regime(const std::vector<RegimePoint>& points, int terms, const RegimePull& pull = {});

double regime_seconds(const RegimeConstants& constants, const RegimeConstants& terms);

}  // namespace trainfront::costmodel
