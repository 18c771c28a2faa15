#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "faults/paper_form.hpp"
#include "faults/survival.hpp"

using namespace trainfront::faults;

namespace {

// Time-averaged ceil(N/(N-k)), the failure rate falling with the survivors.
double mean_stacks(std::int64_t n, const Survival& survival) {
  double dwell = 0;
  double stacks = 0;
  for (std::size_t k = 0; k < survival.size(); ++k) {
    const auto left = n - static_cast<std::int64_t>(k);
    const double w = survival[k] / static_cast<double>(left);
    dwell += w;
    stacks += w * static_cast<double>((n + left - 1) / left);
  }
  return stacks / dwell;
}

struct Errors {
  double failures = 0;
  double stacks = 0;
  double failures_noise = 0;  // expected |error| from the simulation's own standard error
  int rows = 0;
};

}  // namespace

TEST_CASE("survival meets the simulated reference of random placements") {
  std::ifstream file(TRAINFRONT_DATA_DIR "/spare-reference.csv");
  if (!file) {
    MESSAGE("skipped: " TRAINFRONT_DATA_DIR "/spare-reference.csv is not there");
    return;
  }
  Errors small;
  Errors large;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    long n = 0;
    long trials = 0;
    int r = 0;
    double failures = 0;
    double stderr_failures = 0;
    double stacks = 0;
    REQUIRE(std::sscanf(line.c_str(), "%ld,%d,%ld,%lf,%lf,%lf", &n, &r, &trials, &failures, &stderr_failures,
                        &stacks) == 6);
    const Survival p = mean_random_survival(n, r);
    double endured = 0;
    for (const double value : p) endured += value;
    Errors& errors = n < 64 ? small : large;
    errors.failures += std::abs(endured / failures - 1);
    errors.stacks += std::abs(mean_stacks(n, p) / stacks - 1);
    errors.failures_noise += std::sqrt(2 / 3.14159265358979) * stderr_failures / failures;
    ++errors.rows;
  }
  REQUIRE(small.rows == 19);
  REQUIRE(large.rows == 99);
  CHECK(small.failures / small.rows < 0.006);
  CHECK(small.stacks / small.rows < 0.006);
  CHECK(large.failures / large.rows < 0.0015);
  CHECK(large.stacks / large.rows < 0.0015);
  MESSAGE("mean error, failures and stacks: N < 64 ", 100 * small.failures / small.rows, " % and ",
          100 * small.stacks / small.rows, " %; N >= 64 ", 100 * large.failures / large.rows, " % and ",
          100 * large.stacks / large.rows, " % (noise of the reference ",
          100 * large.failures_noise / large.rows, " %)");
}

TEST_CASE("the paper's forms are what the paper prints") {
  // mu(N, 1) = Gamma(2) = 1; mu(N, 2) = sqrt(pi N)/2.
  CHECK(paper::failures_endured(500, 1) == doctest::Approx(1));
  CHECK(paper::failures_endured(400, 2) == doctest::Approx(std::sqrt(3.14159265358979 * 400) / 2));
  CHECK(paper::optimal_redundancy(200) == 8);    // log2 200 + 0.833 = 8.48
  CHECK(paper::optimal_redundancy(600) == 10);   // 10.06
  CHECK(paper::optimal_redundancy(1000) == 10);  // 10.80
  // N = 200, r = 3: mu = 30.5, so states 0 to 29: one of 1 stack, 29 of 2.
  CHECK(paper::mean_stacks(200, 3) == doctest::Approx((1 + 29 * 2) / 30.0));
  // T_s = 60, T_f = 3000, T_r = 3600: 60 + sqrt(3600 + 120 * 6600) = 60 + 892.0.
  CHECK(paper::checkpoint_interval_s(60, 3000, 3600) == doctest::Approx(60 + std::sqrt(795600.0)));
  CHECK(std::isnan(paper::failures_endured(4, 5)));
  CHECK(std::isnan(paper::mean_stacks(0, 1)));
}
