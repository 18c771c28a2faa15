#include "faults/efficiency.hpp"

#include <doctest/doctest.h>

#include "faults/protection.hpp"

using namespace trainfront::faults;

TEST_CASE(
    "the efficiency's polynomial stays within 1 % of the exact optimum for all Weibull shapes allowed") {
  for (const double shape : {kLeastWeibullShape, 0.6, 0.78, 1.0, 1.3, 1.7, kMostWeibullShape}) {
    const Efficiency fit = one_failure(shape);
    for (double s = 0.01; s < 1; s += 0.03) {
      CAPTURE(shape);
      CAPTURE(s);
      CHECK(efficiency(fit, s) == doctest::Approx(exact_one_failure(shape, s).efficiency).epsilon(0.01));
    }
  }
}

TEST_CASE("efficiency never rises with the cost of a save") {
  for (const double shape : {kLeastWeibullShape, 1.0, kMostWeibullShape}) {
    const Efficiency fit = one_failure(shape);
    double before = 1;
    for (double s = 0; s < 1.5; s += 0.01) {
      const double now = efficiency(fit, s);
      CHECK(now <= before);
      before = now;
    }
  }
}
