#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "faults/event_simulation.hpp"
#include "faults/random.hpp"

namespace trainfront::faults {

// When failures strike: renewals of the whole system, bursts beside them, or a trace instead.
class FailureClock {
 public:
  FailureClock(const Simulation& setup, Random& random)
      : setup_(setup), random_(random), scale_(1 / std::tgamma(1 + 1 / setup.law.weibull_shape)) {}

  double next() const { return std::min(failure_, burst_); }

  // A fresh gap from `now` on, `left` units being alive.
  void restart_at(double now, int left) {
    if (!setup_.trace.empty()) {
      while (position_ < setup_.trace.size() && setup_.trace[position_].time_s < now) ++position_;
      failure_ = position_ < setup_.trace.size() ? setup_.trace[position_].time_s : kNever;
      burst_ = kNever;
      return;
    }
    failure_ = now + gap_s(left);
    if (setup_.burst_mtbf_s > 0) burst_ = now + setup_.burst_mtbf_s * random_.exponential();
  }

  // Units that go at next(); `left` are alive.
  int strike(int left) {
    if (!setup_.trace.empty()) {
      const int units = setup_.trace[position_].units;
      ++position_;
      failure_ = position_ < setup_.trace.size() ? setup_.trace[position_].time_s : kNever;
      return units;
    }
    if (burst_ < failure_) {
      burst_ += setup_.burst_mtbf_s * random_.exponential();
      return random_.geometric(std::max(1.0, setup_.burst_units));
    }
    const FailureLaw& law = setup_.law;
    const bool bursts = law.burst_share > 0 && random_.uniform() <= law.burst_share;
    const int units = bursts ? random_.geometric(law.burst_units) : 1;
    failure_ += gap_s(std::max(1, left - units));
    return units;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  double gap_s(int left) {
    const double mean =
        setup_.environment.group_mtbf_s / static_cast<double>(setup_.law.rate_falls ? left : setup_.units);
    if (!std::isfinite(mean)) return kNever;
    if (setup_.law.weibull_shape == 1) return mean * random_.exponential();
    return mean * scale_ * std::pow(random_.exponential(), 1 / setup_.law.weibull_shape);
  }

  const Simulation& setup_;
  Random& random_;
  double scale_;
  std::size_t position_ = 0;  // in the trace
  double failure_ = kNever;
  double burst_ = kNever;
};

}  // namespace trainfront::faults
