#pragma once

#include <cstdint>
#include <vector>

#include "faults/placement.hpp"

namespace trainfront::faults {

// P_k for k = 0, 1, ...: the chance that a cycle survives the loss of k random groups. P_0 = 1, never rises,
// and ends with the last value above kLeastSurvival; beyond the end it is 0.
using Survival = std::vector<double>;
inline constexpr double kLeastSurvival = 1e-16;

// N shard types on r groups each: P(no type has lost all its hosts), from the mean and the variance of the
// number W of types lost. With q_w = C(k,w)/C(N,w), the distinct host sets n' = N/(1 + n_r), and n_v types
// that share v hosts with a given one:
//   lambda = n' q_r,   theta = sum over v < r of n_v/(1 + n_r) q_(2r-v)/q_r - lambda,
//   P_k = (1 + theta)^(-lambda/theta),
// the chance of no event of a (negative) binomial with W's mean lambda and variance lambda (1 + theta).
// Within 0.1 % of enumeration in failures endured from N = 64 (tests). Consecutive placement needs
// consecutive_survival. Empty for r outside [1, n].
Survival spread_survival(std::int64_t n, int r, const std::vector<Overlap>& overlaps);

// The product form P_k = (1 - C(k,r)/C(N,r))^N, which takes the types for independent.
Survival product_survival(std::int64_t n, int r);

// Exact, by counting the survivable among all 2^N sets of lost groups; 1 <= r <= n <= 24.
inline constexpr std::int64_t kEnumerationLimit = 20;
Survival enumerated_survival(std::int64_t n, const std::vector<std::int64_t>& offsets);

// Offsets 0 ... r-1: a type is lost with r neighbours in a row. Exact up to kCountedRing: k lost groups fill
// the m = N - k gaps between survivors with fewer than r each, of C(k+m-1, k) ways to fill them; A(m, k)
// ways:
//   A(m, k) = A(m, k-1) + A(m-1, k) - A(m-1, k-r),   P_k = A(N-k, k)/C(N-1, k).
// Beyond, runs are taken for rare and independent: P_k = exp(-N (q_r - q_(r+1))).
inline constexpr std::int64_t kCountedRing = 8192;
Survival consecutive_survival(std::int64_t n, int r);

// N/r families of r groups, all of a family being needed to lose it: P(every family lives). r divides n.
// Exact for r <= 2 and for N <= 512, else the two-moment form.
Survival family_survival(std::int64_t n, int r);

// The best that is known for a placement: enumeration for small N, else the forms above.
Survival survival(std::int64_t n, int r, Placement placement, std::uint64_t seed = 0);

// The mean over random placements, which differ where N is small: by enumeration of some dozens of them up to
// kEnumerationLimit, from the mean overlaps above.
Survival mean_random_survival(std::int64_t n, int r);

// Both must survive, independently.
Survival both(const Survival& a, const Survival& b);

}  // namespace trainfront::faults
