#include "faults/paper_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace trainfront::faults::paper {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

bool is_valid(std::int64_t n, int r) {
  return r >= 1 && n >= r;
}

}  // namespace

double failures_endured(std::int64_t n, int r) {
  if (!is_valid(n, r)) return kNotANumber;
  const double inverse = 1.0 / r;
  return std::tgamma(1 + inverse) * std::pow(static_cast<double>(n), 1 - inverse);
}

double mean_stacks(std::int64_t n, int r, double patch) {
  if (!is_valid(n, r)) return kNotANumber;
  const auto states = std::max<std::int64_t>(1, static_cast<std::int64_t>(failures_endured(n, r)));
  double sum = 0;
  for (std::int64_t k = 0; k < states; ++k) {
    sum += static_cast<double>((n + (n - k) - 1) / (n - k)) + patch;
  }
  return sum / static_cast<double>(states);
}

double checkpoint_interval_s(double save_s, double cycle_s, double restart_s) {
  return save_s + std::sqrt(save_s * save_s + 2 * save_s * (cycle_s + restart_s));
}

double availability(double save_s, double cycle_s, double restart_s) {
  return cycle_s / (cycle_s + restart_s + checkpoint_interval_s(save_s, cycle_s, restart_s));
}

double objective(std::int64_t n, int r, double mtbf_s, double save_s, double restart_s, double patch) {
  const double cycle_s = failures_endured(n, r) * mtbf_s;
  return mean_stacks(n, r, patch) / availability(save_s, cycle_s, restart_s);
}

int optimal_redundancy(std::int64_t n) {
  if (n < 1) return 0;
  const double r = std::floor(std::log2(static_cast<double>(n)) + std::numbers::egamma / std::numbers::ln2);
  return static_cast<int>(std::clamp(r, 1.0, static_cast<double>(std::min<std::int64_t>(n, 1 << 20))));
}

}  // namespace trainfront::faults::paper
