#include "faults/spare_pool.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::faults {
namespace {

constexpr double kNegligible = 1e-10;

// E min(1, (J + b - s)^+/(b + 1)), 1 where J > s, for the J of one event.
class Wait {
 public:
  Wait(const NodeLosses& losses, std::int64_t spares)
      : spares_{static_cast<double>(spares)}, more_{1 - 1 / losses.together} {
    const double events = losses.single + losses.bursts;
    of_bursts_ = events > 0 ? losses.bursts / events : 0;
    beyond_ = std::pow(more_, spares_);
  }

  double with(double lost) const {
    const double single = std::max(0.0, 1 + lost - spares_) / (lost + 1);
    if (!(of_bursts_ > 0)) return single;
    const double mean = 1 / (1 - more_);
    // Sums over J <= s of the chance of J times (J - (s - b))^+.
    double missing = 0;
    if (lost <= spares_) {
      missing = std::pow(more_, spares_ - lost) * mean - beyond_ * (lost + mean);
    } else {
      missing = mean - beyond_ * (spares_ + mean) + (lost - spares_) * (1 - beyond_);
    }
    const double burst = std::min(1.0, beyond_ + missing / (lost + 1));
    return (1 - of_bursts_) * single + of_bursts_ * burst;
  }

 private:
  double spares_;
  double more_;           // chance that a burst goes on
  double of_bursts_ = 0;  // share of the events
  double beyond_ = 0;     // chance that a burst takes more than all spares
};

}  // namespace

double mean_wait_for_replacement(const NodeLosses& losses, std::int64_t spares) {
  if (spares < 1) return 1;
  const Wait wait(losses, spares);
  const double p = 1 / losses.together;
  const double q = 1 - p;
  const double mean = losses.single + losses.bursts * losses.together;
  const double variance = losses.single + losses.bursts * losses.together * (2 * losses.together - 1);
  const double last = mean + 12 * std::sqrt(variance) + 40 * losses.together;
  // Only ratios count, and P(0) may be beyond a double's range: the chances are kept over a common factor.
  constexpr double kLarge = 1e200;
  double scaled = 1;
  double before = 0;
  double before_that = 0;
  double sum = 0;
  double passed = 0;
  for (std::int64_t lost = 0; static_cast<double>(lost) <= last; ++lost) {
    const auto n = static_cast<double>(lost);
    sum += scaled * wait.with(n);
    passed += scaled;
    const double next =
        ((losses.single + losses.bursts * p + 2 * q * n) * scaled -
         (q * q * (n - 1) + 2 * q * losses.single) * before + q * q * losses.single * before_that) /
        (n + 1);
    before_that = before;
    before = scaled;
    scaled = std::max(0.0, next);
    if (n > mean && scaled < kNegligible * passed) break;
    if (scaled > kLarge)
      for (double* value : {&scaled, &before, &before_that, &sum, &passed}) *value /= kLarge;
  }
  // As a quotient, what was cut off and what was rounded on the way drops out.
  return std::clamp(sum / passed, 0.0, 1.0);
}

}  // namespace trainfront::faults
