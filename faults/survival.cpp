#include "faults/survival.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainfront::faults {
namespace {

// q = C(k,w)/C(N,w) for k = w, w+1, ...: the chance that w given groups are among k lost ones.
double all_lost(std::int64_t n, std::int64_t k, std::int64_t w) {
  double q = 1;
  for (std::int64_t i = 0; i < w && q > 0; ++i) {
    q *= static_cast<double>(k - i) / static_cast<double>(n - i);
  }
  return k < w ? 0 : q;
}

// The largest k at which n q_r(k) is still below `small`, so that P_k is 1 in double precision up to there.
std::int64_t last_certain(std::int64_t n, int r, double small) {
  std::int64_t low = r - 1;
  std::int64_t high = n;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (static_cast<double>(n) * all_lost(n, middle, r) < small ? low : high) = middle;
  }
  return low;
}

// Negative binomial, Poisson or binomial chance of no event, by the sign of theta.
double no_event(double lambda, double theta) {
  if (theta <= -1) return 0;
  if (std::abs(theta) < 1e-12) return std::exp(-lambda);
  return std::exp(-lambda * std::log1p(theta) / theta);
}

}  // namespace

Survival spread_survival(std::int64_t n, int r, const std::vector<Overlap>& overlaps) {
  if (r < 1 || r > n) return {};
  double same = 0;  // types with the very same hosts
  int most = 0;
  for (const Overlap& overlap : overlaps) {
    if (overlap.hosts >= r) {
      same += overlap.types;
    } else {
      most = std::max(most, overlap.hosts);
    }
  }
  const double sets = static_cast<double>(n) / (1 + same);
  std::vector<double> pairs(static_cast<std::size_t>(most) + 1, 0.0);  // by shared hosts
  for (const Overlap& overlap : overlaps) {
    if (overlap.hosts < r) pairs[static_cast<std::size_t>(overlap.hosts)] += overlap.types / (1 + same);
  }

  const std::int64_t certain = std::min(last_certain(n, r, 1e-18), n - 1);
  Survival survival(static_cast<std::size_t>(certain) + 1, 1.0);
  double q = all_lost(n, certain, r);
  const std::int64_t first = 2 * r - most;  // hosts of the pair that shares most
  double ratio = 0;                         // q_first / q_r
  for (std::int64_t k = certain + 1; k < n; ++k) {
    // q_w(k) = q_w(k-1) k/(k-w)
    q = k == r || q == 0 ? all_lost(n, k, r) : q * static_cast<double>(k) / static_cast<double>(k - r);
    if (ratio > 0) {
      ratio *= static_cast<double>(k - r) / static_cast<double>(k - first);
    } else if (k >= first) {
      ratio = 1;
      for (std::int64_t i = r; i < first; ++i)
        ratio *= static_cast<double>(k - i) / static_cast<double>(n - i);
    }
    const double lambda = sets * q;
    double theta = -lambda;
    double pair_ratio = ratio;
    for (int hosts = most; hosts >= 0; --hosts) {
      theta += pairs[static_cast<std::size_t>(hosts)] * pair_ratio;
      const std::int64_t w = 2 * r - hosts;
      if (w >= n) break;
      pair_ratio *= k > w ? static_cast<double>(k - w) / static_cast<double>(n - w) : 0;
    }
    double p = no_event(lambda, theta);
    if ((n - k) * r < n) p = 0;  // the survivors cannot hold all types
    p = std::min(p, survival.back());
    if (p < kLeastSurvival) break;
    survival.push_back(p);
  }
  return survival;
}

Survival product_survival(std::int64_t n, int r) {
  if (r < 1 || r > n) return {};
  Survival survival{1.0};
  for (std::int64_t k = 1; k < n; ++k) {
    const double q = all_lost(n, k, r);
    const double p = q >= 1 ? 0 : std::exp(static_cast<double>(n) * std::log1p(-q));
    if (p < kLeastSurvival) break;
    survival.push_back(p);
  }
  return survival;
}

Survival enumerated_survival(std::int64_t n, const std::vector<std::int64_t>& offsets) {
  const auto bits = static_cast<unsigned>(n);
  const std::uint32_t all = bits == 32 ? ~0U : (1U << bits) - 1;
  std::vector<std::uint64_t> survivable(static_cast<std::size_t>(n) + 1, 0);
  // A set of lost groups and its rotations fare alike, so that sets with group 0 lost suffice: each set of k
  // lost groups has k of its N rotations among them.
  for (std::uint32_t lost = 1; lost <= all; lost += 2) {
    std::uint32_t dead = all;  // types all of whose hosts are lost
    for (const std::int64_t offset : offsets) {
      const auto o = static_cast<unsigned>(offset);
      const std::uint32_t rotated = o == 0 ? lost : ((lost >> o) | (lost << (bits - o))) & all;
      dead &= rotated;
      if (dead == 0) break;
    }
    if (dead == 0) ++survivable[static_cast<std::size_t>(std::popcount(lost))];
    if (lost == all) break;
  }
  Survival survival{1.0};
  double sets = 1;  // C(N-1, k-1)
  for (std::int64_t k = 1; k < n; ++k) {
    if (k > 1) sets *= static_cast<double>(n - k + 1) / static_cast<double>(k - 1);
    const double p = static_cast<double>(survivable[static_cast<std::size_t>(k)]) / sets;
    if (p < kLeastSurvival) break;
    survival.push_back(std::min(p, survival.back()));
  }
  return survival;
}

namespace {

// Survivable sets of k lost groups: coefficients of ((1+x)^r - x^r)^(n/r). All terms are positive, and C(512,
// 256) is far inside the range of double.
constexpr std::int64_t kCountedFamilies = 512;

Survival counted_family_survival(std::int64_t n, int r) {
  std::vector<double> one(static_cast<std::size_t>(r));
  one[0] = 1;
  for (std::size_t i = 1; i < one.size(); ++i) {
    one[i] = one[i - 1] * static_cast<double>(static_cast<std::size_t>(r) - i + 1) / static_cast<double>(i);
  }
  std::vector<double> sets{1.0};
  for (std::int64_t family = 0; family < n / r; ++family) {
    std::vector<double> next(sets.size() + one.size() - 1, 0.0);
    for (std::size_t k = 0; k < sets.size(); ++k) {
      for (std::size_t i = 0; i < one.size(); ++i) next[k + i] += sets[k] * one[i];
    }
    sets = std::move(next);
  }
  Survival survival;
  double all = 1;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    if (k > 0) all *= static_cast<double>(n - static_cast<std::int64_t>(k) + 1) / static_cast<double>(k);
    const double p = std::min(sets[k] / all, survival.empty() ? 1.0 : survival.back());
    if (p < kLeastSurvival) break;
    survival.push_back(p);
  }
  return survival;
}

}  // namespace

Survival family_survival(std::int64_t n, int r) {
  if (r < 1 || r > n || n % r != 0) return {};
  const double families = static_cast<double>(n / r);
  if (r == 1) return {1.0};
  Survival survival{1.0};
  if (r == 2) {
    // Each further group lost must be of an untouched pair.
    for (std::int64_t k = 0; 2 * k < n; ++k) {
      const double p = survival.back() * static_cast<double>(n - 2 * k) / static_cast<double>(n - k);
      if (p < kLeastSurvival) break;
      survival.push_back(p);
    }
    return survival;
  }
  if (n <= kCountedFamilies) return counted_family_survival(n, r);
  const double others = families - 1;
  for (std::int64_t k = 1; k < n; ++k) {
    const double q = all_lost(n, k, r);
    const double lambda = families * q;
    double ratio = 1;  // q_2r / q_r
    for (std::int64_t i = r; i < 2 * std::int64_t{r} && ratio > 0; ++i) {
      ratio *= i < n && k > i ? static_cast<double>(k - i) / static_cast<double>(n - i) : 0;
    }
    double p = q == 0 ? 1 : no_event(lambda, others * ratio - lambda);
    if (n - k < n / r) p = 0;  // fewer survivors than families
    p = std::min(p, survival.back());
    if (p < kLeastSurvival) break;
    survival.push_back(p);
  }
  return survival;
}

Survival consecutive_survival(std::int64_t n, int r) {
  if (r < 1 || r > n) return {};
  if (n > kCountedRing) {
    Survival survival{1.0};
    for (std::int64_t k = 1; k < n; ++k) {
      const double q = all_lost(n, k, r);
      const double next = r < n && k > r ? q * static_cast<double>(k - r) / static_cast<double>(n - r) : 0;
      const double p = std::min(survival.back(), std::exp(-static_cast<double>(n) * (q - next)));
      if (p < kLeastSurvival) break;
      survival.push_back(p);
    }
    return survival;
  }
  // a(m, k) = A(m, k)/C(k+m-1, k), row by row in m; row m is needed up to k = N - m.
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> before(size, 0.0);
  for (std::size_t k = 0; k < size && k < static_cast<std::size_t>(r); ++k) before[k] = 1;  // one gap
  Survival reversed;  // P_(N-m) for m = 1, 2, ...
  reversed.push_back(size > 0 ? before[size - 1] : 1);
  std::vector<double> row(size, 0.0);
  for (std::int64_t m = 2; m <= n; ++m) {
    row[0] = 1;
    double product = 0;  // of (k-i)/(k+m-2-i) for i < r
    for (std::int64_t k = 1; k <= n - m; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double all = static_cast<double>(k + m - 1);
      if (k == r) {
        product = 1;
        for (int i = 0; i < r; ++i)
          product *= static_cast<double>(k - i) / static_cast<double>(k + m - 2 - i);
      } else if (k > r) {
        product *= static_cast<double>(k) / static_cast<double>(k - r) * static_cast<double>(k + m - 2 - r) /
                   static_cast<double>(k + m - 2);
      }
      const double cut = k >= r ? product * before[at - static_cast<std::size_t>(r)] : 0;
      const double ways =
          row[at - 1] * static_cast<double>(k) / all + (before[at] - cut) * static_cast<double>(m - 1) / all;
      row[at] = std::max(0.0, ways);
    }
    reversed.push_back(row[static_cast<std::size_t>(n - m)]);
    std::swap(row, before);
  }
  Survival survival;
  for (auto p = reversed.rbegin(); p != reversed.rend(); ++p) {
    const double value = survival.empty() ? 1.0 : std::min(*p, survival.back());
    // Below this the differences above have lost their digits.
    if (value < 1e-12) break;
    survival.push_back(value);
  }
  return survival;
}

Survival survival(std::int64_t n, int r, Placement placement, std::uint64_t seed) {
  if (r < 1 || r > n) return {};
  if (r == 1) return {1.0};
  if (n <= kEnumerationLimit) return enumerated_survival(n, offsets(n, r, placement, seed));
  if (placement == Placement::kConsecutive) return consecutive_survival(n, r);
  return spread_survival(n, r, overlaps(n, r, offsets(n, r, placement, seed)));
}

Survival mean_random_survival(std::int64_t n, int r) {
  if (n > kEnumerationLimit) return spread_survival(n, r, random_overlaps(n, r));
  if (r < 1 || r > n) return {};
  constexpr int kDraws = 40;
  Survival mean(static_cast<std::size_t>(n), 0.0);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Survival one = survival(n, r, Placement::kRandom, static_cast<std::uint64_t>(draw));
    for (std::size_t k = 0; k < one.size(); ++k) mean[k] += one[k] / kDraws;
  }
  mean[0] = 1;
  while (mean.back() < kLeastSurvival) mean.pop_back();
  return mean;
}

Survival both(const Survival& a, const Survival& b) {
  Survival product(std::min(a.size(), b.size()));
  for (std::size_t k = 0; k < product.size(); ++k) product[k] = a[k] * b[k];
  while (product.size() > 1 && product.back() < kLeastSurvival) product.pop_back();
  return product;
}

}  // namespace trainfront::faults
