#include "faults/cycle_by_work.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "faults/first_gap.hpp"
#include "faults/step_jumps.hpp"

namespace trainfront::faults {
namespace {

// Of chances that no figure shows.
constexpr double kNothing = 1e-14;

class BySteps {
 public:
  BySteps(const Simulation& simulation, const Survival& survival, const CycleStates& states,
          const CycleStart& start)
      : simulation_(simulation),
        states_(states),
        jumps_(simulation, survival, states),
        first_(simulation.law, states.gap_s[0], start.gap_age_s),
        chance_(start.chance),
        steps_(jumps_.end()),
        saves_(jumps_.end()) {
    high_ = chance_.size();
    chance_.resize(std::max(chance_.size(), jumps_.end()), 0.0);
  }

  CycleByWork play() {
    CycleByWork cycle;
    const auto every = static_cast<std::size_t>(std::max<std::int64_t>(0, simulation_.checkpoint_every));
    cycle.interval = every < static_cast<std::size_t>(simulation_.steps) ? every : 0;
    const double first_step_s = states_.window_s[0] + states_.sync_s;
    for (std::size_t i = 0; i < static_cast<std::size_t>(simulation_.steps); ++i) {
      const Moved step = move(steps_, first_step_s, [&](std::size_t k) { return jumps_.in_step(k); });
      cycle.time_s.push_back(step.time_s);
      cycle.losing.push_back(step.losing);
      Moved save;
      double leaving = leave();
      if (every > 0 && (i + 1) % every == 0) {
        const double length_s = simulation_.environment.save_s;
        save = move(saves_, length_s, [&](std::size_t k) { return jumps_.from(k, length_s); });
        leaving += leave();
      }
      cycle.save_s.push_back(save.time_s);
      cycle.save_losing.push_back(save.losing);
      cycle.save_done.push_back(save.done);
      cycle.leaving.push_back(leaving);
      double alive = 0;
      for (std::size_t k = low_; k < high_; ++k) alive += chance_[k];
      cycle.alive.push_back(alive);
    }
    return cycle;
  }

 private:
  struct Moved {
    double time_s = 0;
    double losing = 0;
    double done = 0;
  };

  template <class OfState>
  Moved move(std::vector<std::optional<Passage>>& known, double first_s, OfState&& jumps_of) {
    Moved moved;
    std::vector<double> next(chance_.size(), 0.0);
    std::size_t high = low_;
    for (std::size_t k = low_; k < high_ && k < jumps_.end(); ++k) {
      if (!(chance_[k] > kNothing)) continue;
      const bool is_first = k == 0 && simulation_.law.weibull_shape != 1;
      Passage own;
      if (is_first) own = first_passage(jumps_of(0), first_s);
      if (!is_first && !known[k]) known[k] = jumps_.passage(k, jumps_of(k));
      const Passage& passage = is_first ? own : *known[k];
      moved.time_s += chance_[k] * passage.time_s;
      moved.losing += chance_[k] * passage.ends;
      for (std::size_t h = 0; h < passage.jumps.size(); ++h) {
        next[k + h] += chance_[k] * passage.jumps[h];
        moved.done += chance_[k] * passage.jumps[h];
      }
      high = std::max(high, k + passage.jumps.size());
    }
    chance_ = std::move(next);
    high_ = high;
    while (low_ < high_ && !(chance_[low_] > kNothing)) ++low_;
    return moved;
  }

  // Failures come with the chance that the law gives; how many then is that of exponential ones.
  Passage first_passage(Jumps all, double length_s) {
    const FirstGap::Passed passed = first_.pass(length_s);
    double fails = 0;
    for (std::size_t h = 1; h < all.size(); ++h) fails += all[h];
    const double more = fails > 0 ? passed.fails / fails : 0;
    for (std::size_t h = 1; h < all.size(); ++h) all[h] *= more;
    all[0] = 1 - passed.fails;
    Passage result = jumps_.passage(0, all);
    result.time_s += passed.time_s - jumps_.gap_s(0) * passed.fails;
    return result;
  }

  // All that a voluntary restart is due for.
  double leave() {
    double leaving = 0;
    for (std::size_t k = states_.size(); k < high_; ++k) {
      leaving += chance_[k];
      chance_[k] = 0;
    }
    high_ = std::min(high_, states_.size());
    return leaving;
  }

  const Simulation& simulation_;
  const CycleStates& states_;
  StepJumps jumps_;
  FirstGap first_;
  std::vector<double> chance_;
  std::size_t low_ = 0;
  std::size_t high_ = 1;
  std::vector<std::optional<Passage>> steps_;
  std::vector<std::optional<Passage>> saves_;
};

}  // namespace

CycleByWork cycle_by_steps(const Simulation& simulation, const Survival& survival, const CycleStates& states,
                           const CycleStart& start) {
  return BySteps(simulation, survival, states, start).play();
}

}  // namespace trainfront::faults
