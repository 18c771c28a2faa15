#include "engine/validation/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace trainfront::engine {

TEST_CASE("medians and quantiles lie between neighbours") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(quantile({0, 10}, 0.25) == 2.5);
  CHECK(quantile({5}, 0.9) == 5);
  CHECK(std::isnan(median({})));
  CHECK(std::isnan(mean({})));
  CHECK(mean(std::vector<double>{1, 2, 6}) == 3);
}

TEST_CASE("Kendall's tau: same order, reverse order, by hand") {
  const std::vector<double> up = {1, 2, 3, 4};
  CHECK(kendall_tau(up, up) == 1);
  CHECK(kendall_tau(up, std::vector<double>{4, 3, 2, 1}) == -1);
  // One pair of six is out of order: (5 - 1) / 6.
  CHECK(kendall_tau(up, std::vector<double>{2, 1, 3, 4}) == doctest::Approx(4.0 / 6));
  // A tie in one: 5 untied pairs there, 6 here, all five agree.
  CHECK(kendall_tau(up, std::vector<double>{1, 1, 3, 4}) == doctest::Approx(5 / std::sqrt(30.0)));
  CHECK(std::isnan(kendall_tau(up, std::vector<double>{1, 1, 1, 1})));
}

TEST_CASE("regret is what the chosen layout loses against the best") {
  const std::vector<double> measured = {100, 80, 50};
  CHECK(regret(std::vector<double>{3, 2, 1}, measured) == 0);
  CHECK(regret(std::vector<double>{1, 3, 2}, measured) == doctest::Approx(0.25));
  CHECK(regret(std::vector<double>{1, 2, 3}, measured) == doctest::Approx(1.0));
}

}  // namespace trainfront::engine
