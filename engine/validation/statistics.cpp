#include "engine/validation/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace trainfront::engine {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return kNothing;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double mean(std::span<const double> values) {
  if (values.empty()) return kNothing;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  std::int64_t agree = 0;
  std::int64_t untied_a = 0;
  std::int64_t untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int by_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int by_b = (b[i] > b[j]) - (b[i] < b[j]);
      agree += by_a * by_b;
      untied_a += by_a != 0;
      untied_b += by_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return kNothing;
  return static_cast<double>(agree) /
         std::sqrt(static_cast<double>(untied_a) * static_cast<double>(untied_b));
}

double regret(std::span<const double> predicted, std::span<const double> measured) {
  const auto chosen = std::max_element(predicted.begin(), predicted.end()) - predicted.begin();
  const double best = *std::max_element(measured.begin(), measured.end());
  return best / measured[static_cast<std::size_t>(chosen)] - 1;
}

}  // namespace trainfront::engine
