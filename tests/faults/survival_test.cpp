#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "faults/placement.hpp"
#include "faults/survival.hpp"

using namespace trainfront::faults;

namespace {

double failures_endured(const Survival& survival) {
  return std::accumulate(survival.begin(), survival.end(), 0.0);
}

double choose(int n, int k) {
  double result = 1;
  for (int i = 0; i < k; ++i) result *= static_cast<double>(n - i) / (k - i);
  return result;
}

// Straight from the definition: every set of lost groups, every type.
std::vector<double> survival_by_definition(int n, const std::vector<std::int64_t>& offsets) {
  std::vector<double> alive(static_cast<std::size_t>(n) + 1, 0.0);
  for (unsigned lost = 0; lost < (1U << n); ++lost) {
    bool lives = true;
    for (int type = 0; type < n && lives; ++type) {
      bool hosted = false;
      for (const std::int64_t offset : offsets) {
        hosted = hosted || ((lost >> ((type + static_cast<int>(offset)) % n)) & 1U) == 0;
      }
      lives = hosted;
    }
    if (lives) alive[static_cast<std::size_t>(__builtin_popcount(lost))] += 1;
  }
  for (int k = 0; k <= n; ++k) alive[static_cast<std::size_t>(k)] /= choose(n, k);
  return alive;
}

}  // namespace

TEST_CASE("without redundancy the first failure ends the cycle") {
  for (const std::int64_t n : {1, 2, 8, 64, 1000}) {
    CHECK(survival(n, 1, Placement::kGolomb) == Survival{1.0});
    CHECK(spread_survival(n, 1, random_overlaps(n, 1)) == Survival{1.0});
  }
}

TEST_CASE("with every type on every group the last group ends the cycle") {
  for (const std::int64_t n : {2, 7, 30, 64}) {
    CHECK(survival(n, static_cast<int>(n), Placement::kGolomb) == Survival(static_cast<std::size_t>(n), 1.0));
  }
}

TEST_CASE("arguments without a meaning give no survival at all") {
  CHECK(survival(0, 1, Placement::kGolomb).empty());
  CHECK(survival(4, 0, Placement::kGolomb).empty());
  CHECK(survival(4, 5, Placement::kGolomb).empty());
  CHECK(spread_survival(40, 41, {}).empty());
  CHECK(product_survival(40, 0).empty());
  CHECK(family_survival(10, 3).empty());
}

TEST_CASE("enumeration agrees with the definition") {
  for (const int n : {5, 8, 11}) {
    for (const int r : {1, 2, 3, 5}) {
      const auto hosts = offsets(n, r, Placement::kGolomb);
      const auto expected = survival_by_definition(n, hosts);
      const Survival found = enumerated_survival(n, hosts);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
        CHECK((k < found.size() ? found[k] : 0) == doctest::Approx(expected[k]).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("survival starts at 1, never rises, and is certain below r failures") {
  for (const std::int64_t n : {4, 12, 20, 21, 50, 333, 20'000}) {
    for (int r = 1; r <= 64 && r <= n; r += r < 8 ? 1 : 7) {
      const Survival p = survival(n, r, Placement::kGolomb);
      REQUIRE(p.size() >= static_cast<std::size_t>(r));
      for (std::size_t k = 0; k < p.size(); ++k) {
        if (k < static_cast<std::size_t>(r)) CHECK(p[k] == doctest::Approx(1).epsilon(1e-12));
        CHECK(p[k] > 0);
        CHECK(p[k] <= (k == 0 ? 1 : p[k - 1]));
      }
    }
  }
}

TEST_CASE("more hosts a type endure more failures") {
  for (const std::int64_t n : {16, 100, 1024}) {
    double last = 0;
    for (int r = 1; r <= 16; ++r) {
      const double endured = failures_endured(survival(n, r, Placement::kGolomb));
      CHECK(endured > last);
      last = endured;
    }
  }
}

TEST_CASE("the two-moment form meets enumeration where both can be had") {
  double error = 0;
  int cases = 0;
  for (const std::int64_t n : {14, 17, 20}) {
    for (int r = 2; r <= 8; ++r) {
      const auto hosts = offsets(n, r, Placement::kGolomb);
      const double exact = failures_endured(enumerated_survival(n, hosts));
      const double form = failures_endured(spread_survival(n, r, overlaps(n, r, hosts)));
      error += std::abs(form / exact - 1);
      ++cases;
    }
  }
  CHECK(error / cases < 0.006);
}

TEST_CASE("pairs of groups: the mean number of failures to the first dead pair is 4^b/C(2b, b)") {
  // Counting failures of living groups only; e.g. Casanova, Robert, Vivien, Zaidouni, FGCS 51 (2015).
  for (const int pairs : {1, 2, 10, 300}) {
    double expected = 1;
    for (int i = 1; i <= pairs; ++i) expected *= 2.0 * i / (2.0 * i - 1);
    CHECK(failures_endured(family_survival(2 * pairs, 2)) == doctest::Approx(expected).epsilon(1e-10));
  }
}

TEST_CASE("families of r live as long as the integral over independent lifetimes says") {
  // Mean time to the first family lost, lifetimes exponential with mean 1: int (1 - (1 - e^-t)^r)^families
  // dt.
  for (const int r : {3, 4, 8}) {
    for (const int families : {8, 50, 400}) {
      double expected = 0;
      const double dt = 1e-4;
      for (double t = dt / 2; t < 20; t += dt) {
        expected += dt * std::pow(1 - std::pow(-std::expm1(-t), r), families);
      }
      const std::int64_t n = std::int64_t{r} * families;
      const Survival p = family_survival(n, r);
      double time = 0;
      for (std::size_t k = 0; k < p.size(); ++k)
        time += p[k] / static_cast<double>(n - static_cast<std::int64_t>(k));
      CHECK(time == doctest::Approx(expected).epsilon(0.004));
    }
  }
}

TEST_CASE("a million groups and 64 hosts stay finite") {
  const Survival p = survival(1'000'000, 64, Placement::kGolomb);
  CHECK(p.size() < 1'000'000);
  const double endured = failures_endured(p);
  CHECK(std::isfinite(endured));
  // Between the paper's asymptotic form and the loss of all groups.
  CHECK(endured > 0.98 * std::tgamma(1 + 1.0 / 64) * std::pow(1e6, 1 - 1.0 / 64));
  CHECK(endured < 1e6);
}

TEST_CASE("consecutive hosts: the recurrence agrees with enumeration") {
  for (const std::int64_t n : {6, 11, 18}) {
    for (const int r : {2, 3, 5}) {
      const Survival exact = enumerated_survival(n, offsets(n, r, Placement::kConsecutive));
      const Survival form = consecutive_survival(n, r);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
        CHECK((k < form.size() ? form[k] : 0) ==
              doctest::Approx(k < exact.size() ? exact[k] : 0).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("consecutive hosts endure more failures than spread ones, at any size") {
  for (const std::int64_t n : {64, 1000, 10'000}) {
    const double spread = failures_endured(survival(n, 9, Placement::kGolomb));
    const double consecutive = failures_endured(survival(n, 9, Placement::kConsecutive));
    CHECK(consecutive > 1.03 * spread);
    CHECK(consecutive < 1.15 * spread);
  }
  // Counted and rare-run forms meet where one takes over.
  const double counted = failures_endured(consecutive_survival(kCountedRing, 9));
  const double rare = failures_endured(consecutive_survival(kCountedRing + 1, 9));
  CHECK(rare / counted == doctest::Approx(1).epsilon(0.001));
}
