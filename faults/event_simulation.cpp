#include "faults/event_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>

#include "faults/cluster_state.hpp"
#include "faults/cycle_kernel.hpp"
#include "faults/failure_clock.hpp"
#include "faults/random.hpp"

namespace trainfront::faults {
namespace {

std::vector<std::int64_t> hosts(const Simulation& setup, Random& random) {
  if (setup.protection.scheme != Scheme::kSpare && setup.protection.scheme != Scheme::kReplication) return {};
  const bool redraws = setup.placement == Placement::kRandom;
  const std::uint64_t seed = redraws ? std::uint64_t{random.bits()} << 32 | random.bits() : 0;
  return offsets(setup.units, setup.protection.r, setup.placement, seed);
}

class Run {
 public:
  Run(const Simulation& setup, std::int64_t number)
      : setup_(setup),
        random_(setup.seed, static_cast<std::uint64_t>(number)),
        clock_(setup, random_),
        cluster_(setup.units, setup.protection, setup.stacked_replication, setup.state_copies,
                 hosts(setup, random_), setup.exact_depth) {
    const Protection& protection = setup.protection;
    patch_stacks_ = patch_of(protection).stacks;
    if (protection.scheme == Scheme::kReplication && setup.stacked_replication) patch_stacks_ = 1;
    redoes_step_ = protection.scheme == Scheme::kElastic;
    needs_patch_ = redoes_step_ || patch_stacks_ > 0;
  }

  SimulatedRun play() {
    limit_s_ =
        kMostSlowdown * static_cast<double>(setup_.steps) * (setup_.step.fixed_s + setup_.step.per_stack_s);
    clock_.restart_at(0, cluster_.left());
    while (saved_steps_ + kept_.steps < setup_.steps) {
      if (is_hopeless_ || now_ > limit_s_) return finish(false);
      rejoin();
      if (const std::int64_t steps = quiet_steps(); steps > 0) {
        do_quiet(steps);
      } else if (!do_step()) {
        roll_back();
        continue;
      }
      if (is_due() && saved_steps_ + kept_.steps < setup_.steps) {
        if (!save()) {
          roll_back();
          continue;
        }
        ++run_.voluntary_restarts;
        restart(setup_.environment.restart_s - setup_.environment.detect_s);
        continue;
      }
      if (setup_.checkpoint_every > 0 && kept_.steps >= setup_.checkpoint_every &&
          saved_steps_ + kept_.steps < setup_.steps && !save()) {
        roll_back();
      }
    }
    commit();
    return finish(true);
  }

 private:
  // Since the last checkpoint.
  struct Work {
    std::int64_t steps = 0;
    double useful_s = 0;
    double redundancy_s = 0;
    double patches_s = 0;
    double seconds() const { return useful_s + redundancy_s + patches_s; }
    Work& operator+=(const Work& other) {
      steps += other.steps;
      useful_s += other.useful_s;
      redundancy_s += other.redundancy_s;
      patches_s += other.patches_s;
      return *this;
    }
  };

  // Lets the failures up to `until` happen. False: the cycle ended, now_ is when. In a restart it also ends
  // where a voluntary one becomes due: that begins anew.
  bool advance(double until, int* hits = nullptr, bool restarting = false) {
    while (clock_.next() <= until) {
      const double when = clock_.next();
      const int left = cluster_.left();
      const int units = clock_.strike(left);
      if (setup_.hot_spares >= 0)
        replaced_.insert(replaced_.end(), static_cast<std::size_t>(std::min(units, left)),
                         when + setup_.replace_s);
      for (int i = 0; i < units && cluster_.lives(); ++i) {
        ++run_.failures;
        cluster_.lose(random_);
        if (setup_.environment.repair_s > 0 && redoes_step_)
          repairs_.push(when + setup_.environment.repair_s);
      }
      if (!cluster_.lives()) {
        now_ = std::max(now_, when);
        return false;
      }
      if (restarting && is_due()) {
        now_ = when;
        return false;
      }
      if (hits != nullptr) *hits += units;
    }
    now_ = until;
    return true;
  }

  // A voluntary restart.
  bool is_due() const { return setup_.protection.k_max > 0 && cluster_.lost() >= setup_.protection.k_max; }

  // Idle spares stand in for units under repair.
  void rejoin() {
    if (repairs_.empty()) return;
    while (!repairs_.empty() && repairs_.top() <= now_) repairs_.pop();
    const auto missing = std::max<std::int64_t>(0, std::ssize(repairs_) - setup_.environment.idle_spares);
    if (cluster_.lost() <= missing) return;
    while (cluster_.lost() > missing) cluster_.regain();
    run_.restarts_s += setup_.environment.rejoin_s;
    pause_ = setup_.environment.rejoin_s;
  }

  // Steps, alike to the last, that nothing can interrupt and after which nothing is due before their end.
  std::int64_t quiet_steps() const {
    if (setup_.stack_deviation > 0 || pause_ > 0) return 0;
    std::int64_t steps = setup_.steps - saved_steps_ - kept_.steps;
    if (setup_.checkpoint_every > 0) steps = std::min(steps, setup_.checkpoint_every - kept_.steps);
    const double until = repairs_.empty() ? clock_.next() : std::min(clock_.next(), repairs_.top());
    const double fit =
        std::floor((until - now_) / (setup_.step.fixed_s + cluster_.stacks() * setup_.step.per_stack_s)) - 1;
    return fit < static_cast<double>(steps) ? static_cast<std::int64_t>(fit) : steps;
  }

  void do_quiet(std::int64_t steps) {
    const auto n = static_cast<double>(steps);
    const double stacks = cluster_.stacks();
    const double useful_s = setup_.step.fixed_s + setup_.step.per_stack_s;
    const double redundancy_s = (stacks - 1) * setup_.step.per_stack_s;
    now_ += n * (useful_s + redundancy_s);
    kept_.steps += steps;
    kept_.useful_s += n * useful_s;
    kept_.redundancy_s += n * redundancy_s;
    stack_sum_ += n * stacks;
    steps_done_ += steps;
  }

  // False: the cycle ended in it; the time spent is thrown away.
  bool do_step() {
    started_ = now_;
    if (pause_ > 0) {  // already booked
      started_ += pause_;
      const double until = now_ + pause_;
      pause_ = 0;
      if (!advance(until)) {
        run_.restarts_s -= until - now_;
        started_ = now_;
        return false;
      }
    }
    const double stacks = cluster_.stacks();
    const double jitter =
        setup_.stack_deviation > 0 ? std::max(0.0, 1 + setup_.stack_deviation * random_.normal()) : 1;
    const double stack_s = setup_.step.per_stack_s * jitter;
    const double fixed_s = setup_.step.fixed_s;
    int hits = 0;
    if (!advance(now_ + stacks * stack_s + (setup_.sync_needs_patch ? fixed_s : 0), &hits)) return false;
    double patch_s = 0;
    for (bool first = true; hits > 0 && (first || setup_.patch_again); first = false) {
      hits = 0;
      double length = setup_.environment.detect_s + setup_.environment.reorder_s;
      if (needs_patch_) {
        length += patch_stacks_ * stack_s + (redoes_step_ ? fixed_s + cluster_.stacks() * stack_s : 0);
      }
      if (!advance(now_ + length, &hits)) return false;
      patch_s += length;
      if (!needs_patch_) break;
    }
    if (!setup_.sync_needs_patch && !advance(now_ + fixed_s)) return false;
    ++kept_.steps;
    kept_.useful_s += fixed_s + stack_s;
    kept_.redundancy_s += (stacks - 1) * stack_s;
    kept_.patches_s += patch_s;
    stack_sum_ += stacks;
    ++steps_done_;
    return true;
  }

  bool save() {
    started_ = now_;
    const bool deep = setup_.deep_every > 0 && since_deep_.steps + kept_.steps >= setup_.deep_every;
    const double length = deep ? setup_.environment.deep_save_s : setup_.environment.save_s;
    if (!advance(now_ + length)) return false;
    run_.checkpoints_s += length;
    commit();
    if (deep) since_deep_ = {};
    return true;
  }

  void commit() {
    saved_steps_ += kept_.steps;
    run_.useful_s += kept_.useful_s;
    run_.redundancy_s += kept_.redundancy_s;
    run_.patches_s += kept_.patches_s;
    since_deep_ += kept_;
    kept_ = {};
  }

  void roll_back() {
    run_.lost_work_s += kept_.seconds() + (now_ - started_);
    kept_ = {};
    double length = setup_.environment.restart_s;
    if (setup_.deep_every > 0 && random_.uniform() <= setup_.environment.deep_share) {
      // The quick checkpoints are gone too.
      saved_steps_ -= since_deep_.steps;
      run_.useful_s -= since_deep_.useful_s;
      run_.redundancy_s -= since_deep_.redundancy_s;
      run_.patches_s -= since_deep_.patches_s;
      run_.lost_work_s += since_deep_.seconds();
      since_deep_ = {};
      length += setup_.environment.deep_restart_s;
    }
    // Without checkpoints the training starts over; voluntary restarts have saved what was done before them.
    ++run_.restarts;
    restart(length);
  }

  // Until all but the hot spares of the lost units are replaced.
  double wait_for_replacement_s() {
    if (setup_.hot_spares < 0) return 0;
    while (!replaced_.empty() && replaced_.front() <= now_) replaced_.pop_front();
    const std::int64_t awaited = std::ssize(replaced_) - setup_.hot_spares;
    return awaited > 0 ? replaced_[static_cast<std::size_t>(awaited - 1)] - now_ : 0;
  }

  void restart(double length) {
    const double began = now_;
    for (;;) {
      length += wait_for_replacement_s();
      cluster_.restore();
      repairs_ = {};
      if (!setup_.law.failures_in_restart) {
        now_ += length;
        clock_.restart_at(now_, cluster_.left());
        break;
      }
      if (setup_.law.rate_falls && setup_.law.weibull_shape == 1) clock_.restart_at(now_, cluster_.left());
      if (advance(now_ + length, nullptr, true)) break;
      is_hopeless_ = now_ > limit_s_ || now_ - began > kMostSlowdown * (length + 1);
      if (is_hopeless_) break;
      length = setup_.environment.restart_s;
    }
    run_.restarts_s += now_ - began;
  }

  SimulatedRun finish(bool finished) {
    if (!finished) run_.lost_work_s += kept_.seconds();
    run_.finished = finished;
    run_.time_s = now_;
    run_.stack_steps = steps_done_ > 0 ? stack_sum_ / static_cast<double>(steps_done_) : 0;
    return run_;
  }

  const Simulation& setup_;
  double limit_s_ = 0;
  bool is_hopeless_ = false;  // restarts fail a thousandfold
  Random random_;
  FailureClock clock_;
  ClusterState cluster_;
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;
  std::deque<double> replaced_;  // when lost units will be, ascending
  double patch_stacks_ = 0;
  bool redoes_step_ = false;
  bool needs_patch_ = false;

  SimulatedRun run_;
  Work kept_;
  Work since_deep_;  // saved since the last deep checkpoint
  std::int64_t saved_steps_ = 0;
  std::int64_t steps_done_ = 0;
  double stack_sum_ = 0;
  double now_ = 0;
  double started_ = 0;  // of what is under way
  double pause_ = 0;
};

}  // namespace

SimulatedRun simulate(const Simulation& simulation, std::int64_t number) {
  return Run(simulation, number).play();
}

std::int64_t best_checkpoint_steps(const CycleTable& table, const StepModel& step,
                                   const Environment& environment) {
  const RunTime run = run_time(table, step, environment, kManySteps);
  if (!(run.interval_s > 0)) return 0;
  double step_s = step.fixed_s + step.per_stack_s;
  for (const CycleColumn& column : table.columns) {
    if (column.k_max != run.k_max) continue;
    // Mean step, patches included.
    const EnvironmentTerms terms = environment_terms(environment);
    const CycleSums sums = cycle_sums(table, column, step, terms.masked_s);
    step_s = (column.dwell - column.restart_dwell) / unpatched_steps(sums, terms.failure_rate);
  }
  return std::max<std::int64_t>(1, std::llround((run.interval_s - environment.save_s) / step_s));
}

}  // namespace trainfront::faults
