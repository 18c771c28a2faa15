#include "faults/step_jumps.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::faults {
namespace {

constexpr double kSmallest = 1e-15;
// What is left of 1 after the differences.
constexpr double kSurelyNot = 1e-14;

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

}  // namespace

StepJumps::StepJumps(const Simulation& simulation, const Survival& survival, const CycleStates& states)
    : simulation_(simulation), survival_(survival), states_(states) {
  // With a voluntary restart failures may lead beyond k_max within one step.
  const CycleStates all = [&] {
    Simulation open = simulation;
    open.protection.k_max = 0;
    return cycle_states(open, survival);
  }();
  patch_s_ = all.patch_s;
  last_ = std::min(all.size(), states.size() + 64);
  // Backward, since each hit leads to a higher k.
  patched_.assign(last_, {});
  for (std::size_t k = last_; k-- > 0;) {
    const Jumps one = from(k, patch_s_[k]);
    Jumps& whole = patched_[k];
    if (!states_.patches_repeat) {
      whole = one;
      continue;
    }
    whole.push_back(one[0]);
    for (std::size_t h = 1; h < one.size() && k + h < last_; ++h) {
      const Jumps& rest = patched_[k + h];
      if (whole.size() < h + rest.size()) whole.resize(h + rest.size(), 0.0);
      for (std::size_t i = 0; i < rest.size(); ++i) whole[h + i] += one[h] * rest[i];
    }
  }
}

Jumps StepJumps::from(std::size_t k, double length) const {
  const double units = static_cast<double>(simulation_.units);
  const double left = simulation_.law.rate_falls ? units - static_cast<double>(k) : units;
  return jumps(left, simulation_.environment.group_mtbf_s, length, simulation_.law.rate_falls, last_ - 1 - k);
}

Jumps StepJumps::then(std::size_t k, const Jumps& first, double length) const {
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

Jumps StepJumps::in_step(std::size_t k) const {
  const Jumps window = from(k, states_.window_s[k]);
  Jumps result{window[0]};
  for (std::size_t h = 1; h < window.size() && k + h < last_; ++h) {
    const Jumps& rest = patched_[k + h];
    if (result.size() < h + rest.size()) result.resize(h + rest.size(), 0.0);
    for (std::size_t i = 0; i < rest.size(); ++i) result[h + i] += window[h] * rest[i];
  }
  return then(k, result, states_.sync_s);
}

Jumps StepJumps::thinned(std::size_t k, Jumps jumps) const {
  for (std::size_t h = 0; h < jumps.size(); ++h) {
    jumps[h] *= k + h < survival_.size() ? survival_[k + h] / survival_[k] : 0;
  }
  return jumps;
}

Passage StepJumps::passage(std::size_t k, const Jumps& all) const {
  Passage passage;
  passage.jumps = thinned(k, all);
  // So many failures that no cycle lives on.
  double tail = 1;
  for (const double chance : all) tail -= chance;
  if (!(tail > kSurelyNot)) tail = 0;
  passage.ends = tail;
  for (std::size_t h = all.size(); h >= 1; --h) {
    if (h < all.size()) {
      tail += all[h];
      passage.ends += all[h] - passage.jumps[h];
    }
    const std::size_t from = k + h - 1;
    if (from < survival_.size()) passage.time_s += gap_s(from) * survival_[from] / survival_[k] * tail;
  }
  return passage;
}

double StepJumps::gap_s(std::size_t k) const {
  const auto units = static_cast<double>(simulation_.units);
  return simulation_.environment.group_mtbf_s /
         (simulation_.law.rate_falls ? units - static_cast<double>(k) : units);
}

}  // namespace trainfront::faults
