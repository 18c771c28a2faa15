#pragma once

#include <doctest/doctest.h>

#include <limits>

namespace trainfront {

// Near a value by a share of it. What doctest::Approx allows grows with 1 + the value, so that any two times
// of microseconds would do.
inline doctest::Approx near(double value) {
  return doctest::Approx(value).scale(std::numeric_limits<double>::min());  // of which 0 is near 0 as well
}

}  // namespace trainfront
