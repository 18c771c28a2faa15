#include <algorithm>
#include <cmath>

#include "faults/cycle_by_work.hpp"
#include "faults/first_gap.hpp"

namespace trainfront::faults {
namespace {

// Of chances that no figure shows.
constexpr double kNothing = 1e-14;
constexpr std::size_t kMostStates = 1500;

class ByFlow {
 public:
  ByFlow(const Simulation& simulation, const Survival& survival, const CycleStates& states,
         const CycleStart& start, std::size_t pieces)
      : law_(simulation.law),
        save_s_(simulation.environment.save_s),
        first_(simulation.law, states.gap_s[0], start.gap_age_s),
        chance_(start.chance) {
    const auto all = static_cast<double>(simulation.steps);
    const auto every = static_cast<double>(simulation.checkpoint_every);
    const double finest = std::max(1.0, all / static_cast<double>(pieces));
    cycle_.leaves_at = finest > 1 ? 0.5 : 1;
    cycle_.leave_s = states.last_patch_s + (finest > 1 ? 0 : states.window_s.back() / 2 + states.sync_s);
    cycle_.piece = finest;
    if (every > 0 && every < finest) {
      cycle_.smeared = every / finest;
    } else if (every > 0 && every < all) {
      cycle_.interval = static_cast<std::size_t>(every / finest);
      cycle_.piece = every / static_cast<double>(cycle_.interval);
    }
    pieces_ = static_cast<std::size_t>(std::ceil(all / cycle_.piece * (1 - 1e-12)));
    save_share_s_ = cycle_.smeared > 0 ? save_s_ / every : 0;
    every_ = every;
    build(survival, states, all * (states.window_s[0] + states.sync_s) / states.gap_s[0]);
  }

  CycleByWork play() {
    for (std::size_t piece = 0; piece < pieces_; ++piece) {
      // Small enough that no state is left twice in a part.
      double most = 0;
      for (std::size_t k = low_; k < std::min(reached_ + 1, leave_.size()); ++k)
        most = std::max(most, leave_[k]);
      const auto parts = static_cast<std::size_t>(std::ceil(8 * most * cycle_.piece + 1));
      const double part = cycle_.piece / static_cast<double>(parts);
      Passed passed;
      for (std::size_t i = 0; i < parts; ++i) pass(part, 0, passed);
      cycle_.time_s.push_back(passed.time_s);
      cycle_.losing.push_back(passed.losing);
      cycle_.leaving.push_back(passed.leaving);
      Passed saved;
      double done = 0;
      if (cycle_.interval > 0 && (piece + 1) % cycle_.interval == 0) {
        pass(0, save_s_, saved);
        cycle_.leaving.back() += saved.leaving;
        done = alive();
      }
      cycle_.alive.push_back(alive());
      cycle_.save_s.push_back(saved.time_s);
      cycle_.save_losing.push_back(saved.losing);
      cycle_.save_done.push_back(cycle_.smeared > 0 ? cycle_.piece / every_ * alive() : done);
    }
    return cycle_;
  }

 private:
  struct Passed {
    double time_s = 0;
    double losing = 0;
    double leaving = 0;
  };

  // The step in progress, in the mean half done, still ends at its own speed.
  static double lag_s(const CycleStates& states, std::size_t k) {
    const double window_s = states.window_s[k - 1];
    return (states.window_s[k] - window_s) * window_s / (2 * (window_s + states.sync_s));
  }

  // With very many units several losses make a state, which hardly widens what a run may see.
  void build(const Survival& survival, const CycleStates& states, double failures) {
    const StateSteps steps = state_steps(states, law_, save_share_s_);
    const std::size_t size = states.size();
    const bool bursts = law_.burst_share > 0;
    const double seen = std::min(static_cast<double>(size), 2 * failures + 100);
    const std::size_t together = bursts ? 1 : static_cast<std::size_t>(seen) / kMostStates + 1;
    for (std::size_t k = 0; k < size; k += together) {
      const std::size_t end = std::min(k + together, size);
      double gap_s = 0;
      double work = 0;
      for (std::size_t i = k; i < end; ++i) {
        gap_s += states.gap_s[i];
        // Where states are told apart a patch is at their beginning.
        work += together == 1 ? states.gap_s[i] / steps.step_s[i] : states.gap_s[i] * steps.speed(states, i);
      }
      patched_s_.push_back(together == 1 ? steps.patched_s[k] - (k > 0 ? lag_s(states, k) : 0) : 0);
      const double next = end < size ? states.survival[end] : states.voluntary;
      gap_s_.push_back(gap_s);
      seconds_.push_back(gap_s / work);
      leave_.push_back(1 / work);
      lives_.push_back(next / states.survival[k]);
    }
    if (states.voluntary > 0 && bursts) {
      double landing = 1 / law_.burst_units;
      beyond_ = 0;
      for (std::size_t k = size; k < survival.size(); ++k, landing *= 1 - 1 / law_.burst_units)
        beyond_ += landing * survival[k] / survival[size];
    }
    knows_first_ = law_.weibull_shape != 1 && together == 1;
    reached_ = std::min(chance_.size(), lives_.size());
    chance_.resize(lives_.size(), 0.0);
  }

  // So many steps or, where these are given, seconds in each state.
  void pass(double steps, double seconds, Passed& sum) {
    const double p = 1 / law_.burst_units;
    double entering = 0;
    double leaping = 0;  // in bursts that have got this far
    for (std::size_t k = low_; k < chance_.size(); ++k) {
      if (k >= reached_) {
        if (!(entering + leaping > kNothing)) return;
        reached_ = k + 1;
      }
      const double stay_s = seconds > 0 ? seconds : steps * seconds_[k];
      double fails = -std::expm1(seconds > 0 ? -seconds / gap_s_[k] : -leave_[k] * steps);
      double there_s = (1 - 0.5 * fails) * stay_s;
      if (k == 0 && knows_first_) {
        const FirstGap::Passed passed = first_.pass(stay_s);
        fails = passed.fails;
        there_s = passed.time_s;
      }
      // Of a patch that fails in its turn nothing stays in the state.
      const double through = entering * std::clamp(patched_s_[k] / gap_s_[k], 0.0, 1.0);
      const double left = chance_[k] * fails + through;
      sum.time_s += chance_[k] * there_s + 0.5 * (entering - through) * stay_s + entering * patched_s_[k];
      chance_[k] += entering - left;
      const double onward = left * (1 - law_.burst_share);
      leaping = (1 - p) * leaping + left * law_.burst_share;
      sum.losing += (onward + leaping) * (1 - lives_[k]);
      leaping *= lives_[k];
      entering = onward * lives_[k] + p * leaping;
      if (k == low_ && !(chance_[k] > kNothing) && !knows_first_) ++low_;
    }
    const double singly = entering - p * leaping;
    sum.leaving += singly + beyond_ * leaping;
    sum.losing += (1 - beyond_) * leaping;
  }

  double alive() const {
    double sum = 0;
    for (std::size_t k = low_; k < reached_; ++k) sum += chance_[k];
    return sum;
  }

  FailureLaw law_;
  double save_s_;
  FirstGap first_;
  std::vector<double> chance_;
  std::size_t low_ = 0;
  std::size_t reached_ = 0;
  std::size_t pieces_ = 0;
  double every_ = 0;         // steps between checkpoints
  double save_share_s_ = 0;  // of a step
  CycleByWork cycle_;

  std::vector<double> leave_;    // per step
  std::vector<double> seconds_;  // of a step
  std::vector<double> gap_s_;
  std::vector<double> patched_s_;  // on entering
  std::vector<double> lives_;      // chance to survive what leads on from it
  double beyond_ = 1;              // chance to survive a burst that leaps over a voluntary restart
  bool knows_first_ = false;
};

}  // namespace

CycleByWork cycle_by_flow(const Simulation& simulation, const Survival& survival, const CycleStates& states,
                          const CycleStart& start, std::size_t pieces) {
  return ByFlow(simulation, survival, states, start, pieces).play();
}

}  // namespace trainfront::faults
