#include "faults/late_costs.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::faults {
namespace {

// Where a lag's form is made to meet a first cycle, whose course is known.
constexpr double kMeeting = 0.25;

// `there`: how much of its mean per cycle a first cycle has after kMeeting of a cycle.
Lag lag_of(double cycles, double most, double there) {
  Lag lag;
  if (!(cycles > 1e-9)) return lag;
  lag.cycles = std::min(cycles, most);
  lag.inverse = 1 / lag.cycles;
  const double y = kMeeting * lag.inverse;
  const double left = std::max(1e-12, 1 - (kMeeting - there) * lag.inverse);
  lag.sharp = std::clamp((-std::log(left) - y) / (y * y * (0.5 + y / 3)), 0.0, 1.0);
  return lag;
}

}  // namespace

void LateCostsSoFar::add(const State& state) {
  const double time = state.reached * state.stay;
  const double moment = time * (state.stay * state.square / 2 + state.age);
  dwell_ += time;
  moment_ += moment;
  if (alive_.empty()) {
    first_dwell_ = time;
    first_moment_ = moment;
    risen_.push_back(0);
  } else {
    if (alive_.size() == 1) first_stacks_ = state.stacks;
    const double rise = state.stacks - first_stacks_;
    risen_.push_back(risen_.back() + rise * time);
    risen_moment_ += rise * moment;
  }
  alive_.push_back(state.alive);
  age_.back() = state.age;
  age_.push_back(state.age + state.stay);
}

LateCosts LateCostsSoFar::costs(double at_work, double first_at_work, double left) const {
  LateCosts late;
  late.at_work = at_work;
  late.at_work_inverse = at_work > 0 ? 1 / at_work : 0;
  late.first_stacks = first_stacks_;
  if (alive_.size() < 2) late.first_stacks = 1;
  late.others = std::clamp(at_work / std::max(first_at_work, 1e-12 * at_work) - 1, 0.0, 1e12);
  const double age = moment_ / dwell_;
  // Of the cycles' time the part that is at a given age.
  const double after = dwell_ - first_dwell_;
  if (after > 0) {
    const double lag = ((moment_ - first_moment_) / after - age) / dwell_;
    const double before = first_dwell_ / dwell_;
    late.settled = std::max(0.0, lag / (before * (1 - before)));
  }
  // Where in the states a quarter of a cycle is.
  const double quarter = kMeeting * dwell_;
  const auto next = std::upper_bound(age_.begin(), age_.end(), quarter);
  const auto state = std::min(static_cast<std::size_t>(next - age_.begin()), alive_.size()) - 1;
  const double part = std::min(1.0, (quarter - age_[state]) / (age_[state + 1] - age_[state]));
  const double alive_next = state + 1 < alive_.size() ? alive_[state + 1] : left;
  const double ended = 1 - (alive_[state] + part * (alive_next - alive_[state]));
  late.ends = lag_of(1 - age / dwell_, 0.5, std::max(0.0, ended));
  const double risen = risen_.back();
  if (risen > 1e-12 * dwell_) {
    const double there = (risen_[state] + part * (risen_[state + 1] - risen_[state])) / risen;
    late.further = lag_of((risen_moment_ / risen - age) / dwell_, 1, there);
  }
  return late;
}

}  // namespace trainfront::faults
