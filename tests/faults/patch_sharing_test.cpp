#include "faults/patch_sharing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "faults/renewal.hpp"

using namespace trainfront::faults;

namespace {

// By the fit, as the kernel does, in steps of y and patches of z MTBFs.
struct Patches {
  double a_failure = 0;
  double a_second = 0;  // no more with shorter MTBFs, from some on
};
Patches fitted(const PatchFit& fit, double y, double z) {
  SharedPatches sum;
  sum.add(1, 1, y, 1 / y, z);
  const PatchQuotient q = patch_quotient(sum, fit, 1);
  const double f = std::min(1.0, q.most);
  const double repeated = 1 + f * (q.again + f * q.again_twice);
  const double patches = repeated / (1 + f * (q.shared + f * q.shared_twice) + f * q.patch * repeated);
  return {patches, f * y * patches};
}

// By the gaps themselves.
double exact(const Gaps& gaps, double y, double z) {
  const double hit = gaps.hit_in_any(y);
  return 1 / (y * (1 - gaps.hit_after(z, y)) / hit + z);
}

Gaps gaps_of(double shape) {
  return Gaps(GapLaw({shape, true, false}), 1);
}

}  // namespace

TEST_CASE("exponential failures: a step is hit with 1 - e^-y, and then patched e^z times") {
  CHECK(exact(gaps_of(1), 0.4, 0.3) == doctest::Approx((1 - std::exp(-0.4)) * std::exp(0.3) /
                                                       (0.4 + 0.3 * (1 - std::exp(-0.4)) * std::exp(0.3))));
}

TEST_CASE("the time that patches take is that of the gaps between failures, for all Weibull shapes allowed") {
  struct Held {
    double shape;
    double most_error;
  };
  const std::vector<Held> most = {{0.5, 0.02}, {0.6, 0.01},   {0.75, 0.004}, {0.78, 0.003},
                                  {1, 0.001},  {1.25, 0.003}, {1.5, 0.005},  {2, 0.013}};
  for (const Held& held : most) {
    const double shape = held.shape;
    const PatchFit fit = patch_fit(shape);
    const Gaps gaps = gaps_of(shape);
    double worst = 0;
    for (double y : {0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5})
      for (double ratio : {0.2, 0.5, 0.8, 1.2}) {
        const double z = ratio * y;
        if (z <= 0.8)
          worst = std::max(worst, std::abs(z * (fitted(fit, y, z).a_failure - exact(gaps, y, z))));
      }
    CAPTURE(shape);
    CAPTURE(worst);
    CHECK(worst < held.most_error);
  }
}

TEST_CASE("patches a second never fall with the failure rate, and are no more than 1.15 a failure") {
  for (const double shape : {0.5, 0.6, 0.78, 1.0, 1.3, 2.0}) {
    const PatchFit fit = patch_fit(shape);
    for (const double ratio : {0.1, 0.5, 1.0, 2.0, 5.0}) {
      double before = 0;
      for (int rung = 0; rung < 90; ++rung) {
        const double y = 0.005 * std::pow(1.1, rung);
        const Patches patches = fitted(fit, y, ratio * y);
        CAPTURE(shape);
        CAPTURE(ratio);
        CAPTURE(y);
        CHECK(patches.a_failure <= 1.15);
        CHECK(patches.a_second >= before * (1 - 1e-12));
        before = patches.a_second;
      }
    }
  }
}
