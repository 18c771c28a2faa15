#include "faults/short_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "faults/cycle_by_work.hpp"
#include "faults/cycle_kernel.hpp"
#include "faults/least_of_whole_numbers.hpp"
#include "faults/visits.hpp"

namespace trainfront::faults {
namespace {

constexpr std::size_t kPieces = 600;

// What restarts take in the mean.
struct Restarts {
  double lost_s = 0;       // after lost work: of the quick checkpoint,
  double deep_more_s = 0;  // so much longer where that is destroyed
  double voluntary_s = 0;  // with its save
  double deep_share = 0;
};

// Sums over the pieces of a cycle.
struct Sums {
  explicit Sums(const CycleByWork& cycle) {
    for (std::size_t i = 0; i < cycle.time_s.size(); ++i) {
      time_s.push_back(time_s.back() + cycle.time_s[i] + cycle.save_s[i]);
      losing.push_back(losing.back() + cycle.losing[i] + cycle.save_losing[i]);
      saved.push_back(saved.back() + cycle.save_done[i]);
    }
  }
  std::vector<double> time_s{0.0};
  std::vector<double> losing{0.0};
  std::vector<double> saved{0.0};
};

// A(Q) over the pieces that remain, and the time down in it. Where a lost quick checkpoint throws a run back
// behind the point where it last restarted, A stands on the right for more work too, that from the last deep
// checkpoint: all A since then are x times what that takes, and something, until it is reached.
class Remaining {
 public:
  Remaining(const CycleByWork& cycle, const Simulation& simulation, const Restarts& restarts)
      : restarts_(restarts),
        save_s_(simulation.environment.save_s),
        deep_save_more_s_(simulation.environment.deep_save_s - simulation.environment.save_s),
        pieces_(cycle.time_s.size()) {
    const auto all = static_cast<double>(simulation.steps);
    last_ = all / cycle.piece - static_cast<double>(pieces_ - 1);
    if (restarts.deep_share > 0) {
      // Without checkpoints in between, a deep one is as good as none.
      const double every = cycle.smeared > 0 ? cycle.smeared : static_cast<double>(cycle.interval);
      const double saves = std::ceil(static_cast<double>(simulation.deep_every) /
                                     std::max(1.0, static_cast<double>(simulation.checkpoint_every)));
      deep_ = simulation.deep_every > 0 && every > 0 ? std::max(1.0, std::round(saves * every))
                                                     : static_cast<double>(pieces_ + 1);
    }
    time_s_.assign(pieces_ + 1, 0.0);
    down_s_.assign(pieces_ + 1, 0.0);
    share_.assign(pieces_ + 1, 0.0);
    const Sums sums(cycle);
    const bool all_are_needed = cycle.smeared > 0 || deep_ > 0 || leaves(cycle);
    const std::size_t stride = all_are_needed || cycle.interval == 0 ? 1 : cycle.interval;
    const std::size_t begin = all_are_needed ? 1 : cycle.interval == 0 ? pieces_ : (pieces_ - 1) % stride + 1;
    for (std::size_t j = begin; j <= pieces_; j += stride) {
      const Term term = from(cycle, sums, j);
      const bool at_deep = deep_ > 0 && position(j) % static_cast<std::size_t>(deep_) == 0;
      const double own = term.own + (at_deep ? term.share : 0);
      time_s_[j] = term.time_s / (1 - own);
      down_s_[j] = term.down_s / (1 - own);
      if (deep_ > 0 && !at_deep) {
        share_[j] = term.share / (1 - own);
      } else if (deep_ > 0) {
        // Known now: what was left open since the deep checkpoint after this one.
        for (std::size_t i = j - 1; i > 0 && static_cast<double>(j - i) < deep_; --i) {
          time_s_[i] += share_[i] * time_s_[j];
          down_s_[i] += share_[i] * down_s_[j];
          share_[i] = 0;
        }
      }
    }
  }

  // Of a run whose first cycle is `cycle`, and the later ones those that this was made of.
  ShortRun with_first(const CycleByWork& cycle) const {
    const Term term = from(cycle, Sums(cycle), pieces_);
    const double again = term.own + term.share;
    return {term.time_s + again * time_s_[pieces_], term.down_s + again * down_s_[pieces_]};
  }
  ShortRun whole() const { return {time_s_[pieces_], down_s_[pieces_]}; }

 private:
  struct Term {
    double time_s = 0;
    double down_s = 0;
    double own = 0;    // times A of the same point,
    double share = 0;  // and of the last deep checkpoint
  };

  static bool leaves(const CycleByWork& cycle) {
    return std::any_of(cycle.leaving.begin(), cycle.leaving.end(), [](double chance) { return chance > 0; });
  }
  std::size_t position(std::size_t remaining) const { return pieces_ - remaining; }

  void down(Term& term, double chance, double seconds) const {
    term.time_s += chance * seconds;
    term.down_s += chance * seconds;
  }

  // On with `remain` pieces of the j that there were.
  void go_on(Term& term, double chance, double remain, std::size_t j) const {
    if (!(chance > 0)) return;
    const auto below = std::min(static_cast<std::size_t>(std::max(0.0, remain)), j);
    const double above = below < j ? std::max(0.0, remain) - static_cast<double>(below) : 0;
    add(term, chance * (1 - above), below, j);
    if (above > 0) add(term, chance * above, below + 1, j);
  }
  void add(Term& term, double chance, std::size_t at, std::size_t j) const {
    if (at == j) {
      term.own += chance;
      return;
    }
    term.time_s += chance * time_s_[at];
    term.down_s += chance * down_s_[at];
    term.share += chance * share_[at];
  }

  // The cycle ends with `chance`, `saved` pieces after it began with j to go.
  void lose(Term& term, double chance, double saved, std::size_t j) const {
    if (!(chance > 0)) return;
    down(term, chance, restarts_.lost_s);
    if (!(deep_ > 0)) return go_on(term, chance, static_cast<double>(j) - saved, j);
    const double destroyed = restarts_.deep_share * chance;
    go_on(term, chance - destroyed, static_cast<double>(j) - saved, j);
    down(term, destroyed, restarts_.deep_more_s);
    const auto begun = static_cast<double>(position(j));
    const double deep = deep_ * std::floor((begun + saved) / deep_ * (1 + 1e-12));
    if (deep > begun) {
      go_on(term, destroyed, static_cast<double>(pieces_) - deep, j);
    } else if (deep == begun) {
      term.own += destroyed;
    } else {
      term.share += destroyed;
    }
  }

  Term from(const CycleByWork& cycle, const Sums& sums, std::size_t j) const {
    Term term;
    const std::size_t end = j - 1;  // the last piece, of which the run needs a part
    // The patch that a voluntary restart waits for, which the end of the run waits for too.
    term.time_s = last_ * (cycle.time_s[end] + cycle.leaving[end] * cycle.leave_s);
    if (cycle.smeared > 0) {
      term.time_s += sums.time_s[end];
      term.down_s = save_s_ * (sums.saved[end] + last_ * cycle.save_done[end]);
      // The run's last interval needs no save.
      const double spared_s = save_s_ * std::min(1.0, static_cast<double>(j) / cycle.smeared);
      term.time_s -= spared_s * cycle.alive[end];
      term.down_s -= spared_s * cycle.alive[end];
      for (std::size_t i = 0; i < j; ++i)
        lose(term, (i < end ? 1 : last_) * cycle.losing[i],
             saved_in_piece(static_cast<double>(i), cycle.smeared), j);
      leave(term, cycle, 1, 0, end, j);
      return term;
    }
    const std::size_t interval = cycle.interval > 0 ? cycle.interval : j;
    double alive = 1;  // after deep saves, which take longer
    for (std::size_t begin = 0; begin < j; begin += interval) {
      const std::size_t stop = std::min(begin + interval, end);
      term.time_s += alive * (sums.time_s[stop] - sums.time_s[begin]);
      term.down_s += alive * save_s_ * (sums.saved[stop] - sums.saved[begin]);
      double losing = sums.losing[stop] - sums.losing[begin];
      if (begin + interval > end) {
        term.time_s -= (1 - alive) * last_ * cycle.time_s[end];
        losing += last_ * cycle.losing[end];
      }
      lose(term, alive * losing, static_cast<double>(begin), j);
      leave(term, cycle, alive, begin, stop, j);
      const bool deep = deep_ > 0 && stop == begin + interval && begin + interval < j &&
                        (position(j) + stop) % static_cast<std::size_t>(deep_) == 0;
      if (deep) save_deeply(term, cycle, alive, begin, stop - 1, j);
    }
    return term;
  }

  // Of the save after that piece, what it takes longer; it fails at the rate of the piece.
  void save_deeply(Term& term, const CycleByWork& cycle, double& alive, std::size_t saved, std::size_t piece,
                   std::size_t j) const {
    const double here = alive * cycle.save_done[piece];
    if (!(here > 0)) return;
    const double rate = cycle.losing[piece] / cycle.time_s[piece];
    const double hit = -std::expm1(-rate * deep_save_more_s_);
    const double there_s = here * (rate > 0 ? hit / rate : deep_save_more_s_);
    term.time_s += there_s;
    term.down_s += here * (1 - hit) * deep_save_more_s_;
    lose(term, here * hit, static_cast<double>(saved), j);
    alive *= 1 - hit;
  }

  void leave(Term& term, const CycleByWork& cycle, double alive, std::size_t begin, std::size_t stop,
             std::size_t j) const {
    for (std::size_t i = begin; i < stop; ++i) {
      const double chance = alive * cycle.leaving[i];
      if (!(chance > 0)) continue;
      down(term, chance, restarts_.voluntary_s);
      term.time_s += chance * cycle.leave_s;
      go_on(term, chance, static_cast<double>(j - i) - cycle.leaves_at, j);
    }
  }

  // Of the steps done by an end of a cycle within the piece from x on, those that were saved, in the mean:
  // the integral of n floor(x/n).
  static double saved_in_piece(double x, double every) {
    const auto to = [&](double at) {
      const double m = std::floor(at / every);
      return every * (every * m * (m - 1) / 2 + m * (at - every * m));
    };
    return to(x + 1) - to(x);
  }

  Restarts restarts_;
  double save_s_;
  double deep_save_more_s_;
  std::size_t pieces_;
  double last_ = 1;  // share of the last piece that the run needs
  double deep_ = 0;  // pieces from a deep checkpoint to the next; 0: there is one level
  std::vector<double> time_s_;
  std::vector<double> down_s_;
  std::vector<double> share_;  // times A of the last deep checkpoint
};

ShortRun endless() {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  return {kNever, kNever};
}

ShortRun checked(const ShortRun& run, const Simulation& simulation) {
  const double without =
      static_cast<double>(simulation.steps) * (simulation.step.fixed_s + simulation.step.per_stack_s);
  return run.time_s >= 0 && run.time_s < kMostSlowdown * without ? run : endless();
}

// Where restarts can fail, what the cycle after one begins with.
CycleStart after_restart(const Simulation& simulation, const CycleStates& states, double& restart_s) {
  CycleStart start;
  start.chance.clear();
  double starts = 0;
  double down_s = 0;
  Visits visits;
  for (std::size_t k = 0; k < states.size(); ++k, visits.advance(simulation.law)) {
    start.chance.push_back(visits.at * states.ends_restart[k]);
    starts += start.chance.back();
    down_s += visits.at * states.survival[k] * states.gap_s[k] * (1 - states.later[k]);
  }
  for (double& chance : start.chance) chance /= starts;
  while (start.chance.size() > 1 && start.chance.back() < 1e-15) start.chance.pop_back();
  restart_s = down_s / starts;
  start.gap_age_s = simulation.environment.restart_s;
  return start;
}

// As far as a run may get: four times the failures that its steps would see in a full system, and a dozen
// deviations. Where steps are struck over and over, all of it.
Survival within_reach(const Simulation& simulation, const Survival& survival) {
  const double step_s = simulation.step.fixed_s + stacks_needed(simulation.protection, simulation.units, 0) *
                                                      simulation.step.per_stack_s;
  const double per_step =
      step_s * static_cast<double>(simulation.units) / simulation.environment.group_mtbf_s;
  if (per_step > 0.25) return survival;
  const double per_failure = std::max(1.0, simulation.law.burst_units);
  const double failures = 4 * per_step * static_cast<double>(simulation.steps);
  const double reach = (failures + 12 * std::sqrt(failures) + 80) * per_failure +
                       static_cast<double>(simulation.protection.k_max);
  if (!(reach < static_cast<double>(survival.size()))) return survival;
  return {survival.begin(), survival.begin() + static_cast<std::ptrdiff_t>(reach)};
}

}  // namespace

ShortRun short_run(const Simulation& simulation, const Survival& whole_survival) {
  const Survival survival = within_reach(simulation, whole_survival);
  Simulation setup = simulation;
  Environment& environment = setup.environment;
  Restarts restarts;
  restarts.deep_share = environment.deep_share;
  const bool can_fail = setup.law.failures_in_restart;
  if (can_fail) {
    environment.restart_s += environment.deep_share * environment.deep_restart_s;
    environment.deep_restart_s = 0;
  }
  const CycleStates states = cycle_states(setup, survival);
  const bool told_apart = setup.steps <= kToldApart;
  const auto cycle_from = [&](const CycleStart& start) {
    if (told_apart && !(setup.law.burst_share > 0)) return cycle_by_steps(setup, survival, states, start);
    return cycle_by_flow(setup, survival, states, start,
                         told_apart ? static_cast<std::size_t>(kToldApart) : kPieces);
  };
  restarts.lost_s = environment.restart_s;
  restarts.deep_more_s = environment.deep_restart_s;
  restarts.voluntary_s = environment.save_s + environment.restart_s - environment.detect_s;
  const CycleByWork first = cycle_from({});
  if (!can_fail) return checked(Remaining(first, setup, restarts).whole(), setup);
  const CycleStart start = after_restart(setup, states, restarts.lost_s);
  restarts.voluntary_s = environment.save_s + restarts.lost_s;
  return checked(Remaining(cycle_from(start), setup, restarts).with_first(first), setup);
}

namespace {

// From so many intervals on a long run's are the best.
constexpr double kManyIntervals = 100;

// The number of steps between checkpoints that makes the time least, from a guess.
std::int64_t best_interval(Simulation simulation, const Survival& survival, std::int64_t guess) {
  const std::int64_t steps = simulation.steps;
  const auto length = [&](std::int64_t intervals) {
    return intervals > 1 ? (steps + intervals - 1) / intervals : 0;
  };
  const double intervals = guess > 0 ? static_cast<double>(steps) / static_cast<double>(guess) : 1;
  if (intervals > kManyIntervals) return guess;
  const auto time = [&](std::int64_t number) {
    simulation.checkpoint_every = length(number);
    return short_run(simulation, survival).time_s;
  };
  return length(least_of_whole_numbers(time, std::llround(intervals), steps));
}

// The same of deep checkpoints, in steps, a whole number of intervals; as long as the run: none.
std::int64_t best_deep_interval(Simulation simulation, const Survival& survival) {
  const std::int64_t every = std::max<std::int64_t>(1, simulation.checkpoint_every);
  const std::int64_t intervals = (simulation.steps + every - 1) / every;
  if (simulation.checkpoint_every == 0 || intervals < 2) return simulation.steps;
  const std::int64_t guess = (simulation.steps + simulation.deep_every - 1) / simulation.deep_every;
  if (static_cast<double>(guess) > kManyIntervals) return simulation.deep_every;
  const auto length = [&](std::int64_t number) {
    return number > 1 ? (intervals + number - 1) / number * every : simulation.steps;
  };
  const auto time = [&](std::int64_t number) {
    simulation.deep_every = length(number);
    return short_run(simulation, survival).time_s;
  };
  return length(least_of_whole_numbers(time, guess, intervals));
}

}  // namespace

bool is_short_run(const Simulation& simulation, const PreciseTime& time) {
  if (std::isnan(time.time_s)) return false;
  const auto steps = static_cast<double>(simulation.steps);
  if (!std::isfinite(time.time_s)) return simulation.steps <= kToldApart;
  return time.saved_steps > 0 && steps < kLongRunCycles * time.saved_steps;
}

void take_as_short_run(Simulation& setup, const Survival& survival, double more_s, PreciseTime& time) {
  const double save_s = setup.environment.save_s;
  const double step_s =
      time.checkpoint_every > 0 && time.checkpoint_interval_s > 0
          ? (time.checkpoint_interval_s - save_s) / static_cast<double>(time.checkpoint_every)
          : setup.step.fixed_s + time.mean_stacks * setup.step.per_stack_s;
  if (setup.checkpoint_every < 0) {
    setup.checkpoint_every = best_interval(setup, survival, time.checkpoint_every);
    if (setup.deep_every > 0) {
      setup.deep_every = best_deep_interval(setup, survival);
      setup.checkpoint_every = best_interval(setup, survival, setup.checkpoint_every);
    }
    time.checkpoint_every = setup.checkpoint_every;
    time.checkpoint_interval_s = static_cast<double>(setup.checkpoint_every) * step_s;
    if (setup.checkpoint_every > 0) time.checkpoint_interval_s += save_s;
  }
  const ShortRun run = short_run(setup, survival);
  const double cycles = static_cast<double>(setup.steps) / time.saved_steps;
  const bool is_exact = setup.steps <= kToldApart && setup.law.weibull_shape == 1;
  time.time_s = run.time_s + (is_exact ? 0 : std::min(1.0, cycles) * more_s);
  time.availability = std::isfinite(run.time_s) ? 1 - run.down_s / run.time_s : 0;
}

}  // namespace trainfront::faults
