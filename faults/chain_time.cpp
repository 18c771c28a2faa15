#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/cycle_states.hpp"
#include "faults/precise_time.hpp"

namespace trainfront::faults {
namespace {

// Chances of 0, 1, 2, ... failures.
using Jumps = std::vector<double>;

constexpr double kSmallest = 1e-15;

// Of `left` units, each failing at 1/mtbf, or of a constant rate left/mtbf, within `length`.
Jumps jumps(double left, double mtbf, double length, bool rate_falls, std::size_t most) {
  Jumps result;
  const double fail = -std::expm1(-length / mtbf);
  if (rate_falls && fail == 1) {
    result.assign(std::min(most, static_cast<std::size_t>(left)) + 1, 0.0);
    if (left <= static_cast<double>(most)) result.back() = 1;
    return result;
  }
  double p = std::exp(-left * length / mtbf);  // none: the same for both laws
  for (std::size_t h = 0; h <= most; ++h) {
    result.push_back(p);
    const auto i = static_cast<double>(h);
    if (rate_falls) {
      if (i >= left) break;
      p *= (left - i) / (i + 1) * fail / (1 - fail);
    } else {
      p *= left * length / mtbf / (i + 1);
    }
    if (p < kSmallest && i > left * length / mtbf) break;
  }
  return result;
}

class Chain {
 public:
  Chain(const Simulation& simulation, const Survival& survival)
      : simulation_(simulation), survival_(survival), states_(cycle_states(simulation, survival)) {
    // With a voluntary restart failures may lead beyond k_max within one step.
    const CycleStates all = [&] {
      Simulation open = simulation;
      open.protection.k_max = 0;
      return cycle_states(open, survival);
    }();
    patch_s_ = all.patch_s;
    last_ = std::min(all.size(), states_.size() + 64);
  }

  double saved_steps() {
    build_patches();
    const std::size_t size = states_.size();
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(1, simulation_.checkpoint_every));
    std::vector<std::vector<double>> inflow(size, std::vector<double>());
    const auto flow_into = [&](std::size_t k) -> std::vector<double>& {
      if (inflow[k].empty()) inflow[k].assign(n, 0.0);
      return inflow[k];
    };
    if (simulation_.law.failures_in_restart) {
      const Jumps first = from(0, simulation_.environment.restart_s);
      for (std::size_t h = 0; h < first.size() && h < size; ++h) flow_into(h)[0] = first[h] * survival_[h];
    } else {
      flow_into(0)[0] = 1;
    }

    double saved = 0;
    for (std::size_t k = 0; k < size; ++k) {
      if (inflow[k].empty()) continue;
      const Jumps step = thinned(k, step_jumps(k));
      const Jumps with_save = thinned(k, then(k, step_jumps(k), simulation_.environment.save_s));
      // Visits to (k, i unsaved steps): v_i = in_i + stay v_(i-1), and back from n-1 to 0 by way of a save.
      std::vector<double>& visits = inflow[k];
      const double stay = step[0];
      double carried = 0;
      double around = 1;
      for (std::size_t i = 0; i < n; ++i) {
        carried = visits[i] + stay * carried;
        if (i > 0) around *= stay;
      }
      // carried: visits to n-1 without the loop through the save; the loop adds as often again.
      const double loops = with_save[0] * carried / (1 - with_save[0] * around);
      visits[0] += loops;
      for (std::size_t i = 1; i < n; ++i) visits[i] += stay * visits[i - 1];

      for (const double p : with_save) saved += visits[n - 1] * p * static_cast<double>(n);
      for (std::size_t h = 1; h < with_save.size(); ++h) {
        if (k + h < size) flow_into(k + h)[0] += visits[n - 1] * with_save[h];
      }
      for (std::size_t h = 1; h < step.size(); ++h) {
        if (k + h < size) {
          std::vector<double>& into = flow_into(k + h);
          for (std::size_t i = 0; i + 1 < n; ++i) into[i + 1] += visits[i] * step[h];
        } else if (states_.voluntary > 0) {
          // k_max is reached: all of the i + 1 steps are saved.
          for (std::size_t i = 0; i + 1 < n; ++i) saved += visits[i] * step[h] * static_cast<double>(i + 1);
        }
      }
      visits = {};
    }
    return saved;
  }

 private:
  Jumps from(std::size_t k, double length) const {
    const double units = static_cast<double>(simulation_.units);
    const double left = simulation_.law.rate_falls ? units - static_cast<double>(k) : units;
    return jumps(left, simulation_.environment.group_mtbf_s, length, simulation_.law.rate_falls,
                 last_ - 1 - k);
  }

  Jumps then(std::size_t k, const Jumps& first, double length) const {
    if (length <= 0) return first;
    Jumps result(1, 0.0);
    for (std::size_t h = 0; h < first.size() && k + h < last_; ++h) {
      if (first[h] < kSmallest) continue;
      const Jumps second = from(k + h, length);
      if (result.size() < h + second.size()) result.resize(h + second.size(), 0.0);
      for (std::size_t i = 0; i < second.size(); ++i) result[h + i] += first[h] * second[i];
    }
    return result;
  }

  // Patches until one is not hit, from the state with k lost: backward, since each hit leads to a higher k.
  void build_patches() {
    patched_.assign(last_, {});
    for (std::size_t k = last_; k-- > 0;) {
      const Jumps one = from(k, k < patch_s_.size() ? patch_s_[k] : 0);
      Jumps& all = patched_[k];
      if (!states_.patches_repeat) {
        all = one;
        continue;
      }
      all.push_back(one[0]);
      for (std::size_t h = 1; h < one.size() && k + h < last_; ++h) {
        const Jumps& rest = patched_[k + h];
        if (all.size() < h + rest.size()) all.resize(h + rest.size(), 0.0);
        for (std::size_t i = 0; i < rest.size(); ++i) all[h + i] += one[h] * rest[i];
      }
    }
  }

  // Of a whole step from k, before thinning by survival.
  Jumps step_jumps(std::size_t k) const {
    const Jumps window = from(k, states_.window_s[k]);
    Jumps result{window[0]};
    for (std::size_t h = 1; h < window.size() && k + h < last_; ++h) {
      const Jumps& rest = patched_[k + h];
      if (result.size() < h + rest.size()) result.resize(h + rest.size(), 0.0);
      for (std::size_t i = 0; i < rest.size(); ++i) result[h + i] += window[h] * rest[i];
    }
    return then(k, result, states_.sync_s);
  }

  Jumps thinned(std::size_t k, Jumps jumps) const {
    for (std::size_t h = 0; h < jumps.size(); ++h) {
      jumps[h] *= k + h < survival_.size() ? survival_[k + h] / survival_[k] : 0;
    }
    return jumps;
  }

  const Simulation& simulation_;
  const Survival& survival_;
  CycleStates states_;
  std::vector<double> patch_s_;
  std::size_t last_ = 0;
  std::vector<Jumps> patched_;
};

}  // namespace

PreciseTime chain_time(const Simulation& simulation, const Survival& survival) {
  PreciseTime result = fluid_time(simulation, survival);
  result.saved_steps = Chain(simulation, survival).saved_steps();
  const double ratio = result.cycle_s / result.saved_steps;
  const double without = simulation.step.fixed_s + simulation.step.per_stack_s;
  result.time_s = result.saved_steps > 0 && ratio < kMostSlowdown * without
                      ? static_cast<double>(simulation.steps) * ratio
                      : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace trainfront::faults
