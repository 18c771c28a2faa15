#include "faults/cycle.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "faults/after_restart.hpp"
#include "faults/cycle_kernel.hpp"
#include "faults/cycle_shares.hpp"
#include "faults/late_kernel.hpp"
#include "faults/rejoin.hpp"
#include "faults/renewal.hpp"
#include "faults/spread_kernel.hpp"
#include "faults/visits.hpp"

namespace trainfront::faults {
namespace {

// Chance that the leap to `end` or beyond, from states that survive, is survived: v_end P_end and, for the
// bursts that leap over it, share p (1-p)^i h_end P_(end+i).
double survives_leap(const Survival& survival, std::size_t end, const FailureLaw& law, const Visits& visits) {
  if (end >= survival.size()) return 0;
  double chance = visits.at * survival[end];
  if (!(law.burst_share > 0)) return chance;
  const double p = 1 / law.burst_units;
  double landing = law.burst_share * p * visits.burst;
  for (std::size_t k = end + 1; k < survival.size(); ++k) {
    landing *= 1 - p;
    chance += landing * survival[k];
  }
  return chance;
}

// The columns of one table, which differ in where the cycle ends: states are gone through once for all.
class Columns {
 public:
  Columns(std::int64_t n, const Survival& survival, const Protection& protection, const FailureLaw& law)
      : n_{n},
        survival_{survival},
        protection_{protection},
        law_{law},
        squared_variation_{GapLaw(law).squared_variation},
        before_{static_cast<double>(n)},
        after_restart_{law, law.failures_in_restart ? law.restart_mtbfs : 0} {
    so_far_.starts = 0;
    classes_.reserve(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(survival), 256)));
  }

  // States 0 .. end-1 of the cycle; the loss that leads to `end` (or is not survived) ends it. `end` never
  // falls from call to call.
  CycleColumn column(std::int64_t end, int k_max) {
    for (; k_ < end; ++k_, visits_.advance(law_)) add_state();
    CycleColumn column = so_far_;
    column.k_max = k_max;
    column.last_crowding = before_;
    column.end_stacks = stacks_needed(protection_, n_, std::min(end, n_ - 1));
    column.restart_dwell = column.dwell - up_;
    column.stacks = up_ > 0 ? work_ / up_ : 1;
    // The leap's parts may sum to a rounding more than 1, and no chance is below 0.
    column.losing =
        k_max > 0
            ? std::max(0.0, 1 - survives_leap(survival_, static_cast<std::size_t>(k_max), law_, visits_))
            : 1;
    if (survival_.size() > 1) {
      const double left = k_max > 0 ? survival_[static_cast<std::size_t>(end) - 1] : 0;
      column.late = late_.costs(up_, first_up_, left);
    } else {
      column.late.at_work = up_;
      column.late.at_work_inverse = up_ > 0 ? 1 / up_ : 0;
    }
    const std::vector<StackClass> merged = merge_classes(classes_);
    column.classes = static_cast<int>(merged.size());
    for (std::size_t i = 0; i < merged.size(); ++i) {
      column.class_stacks[i] = merged[i].stacks;
      column.class_dwell[i] = merged[i].dwell;
      column.class_failures[i] = merged[i].failures;
      column.class_crowding[i] = merged[i].failures > 0 ? merged[i].crowding / merged[i].failures : 0;
      column.class_entered[i] = merged[i].entered;
      column.class_stay[i] = merged[i].stay;
      column.class_passage[i] = merged[i].passage;
      column.class_squares[i] = merged[i].squares;
    }
    return column;
  }

 private:
  void add_state() {
    const double p = survival_[static_cast<std::size_t>(k_)] * visits_.at;
    const auto crowding = static_cast<double>(law_.rate_falls ? n_ - k_ : n_);
    const double w = 1 / crowding;
    const double c = stacks_needed(protection_, n_, k_);
    const double masked = k_ > 0 ? p : 0;
    const double patched = masked * after_restart_.is_over();
    if (classes_.empty() || classes_.back().stacks != c) {
      classes_.emplace_back();
      classes_.back().stacks = c;
      classes_.back().entered = patched;
      landing_ = law_.burst_share / law_.burst_units * visits_.burst;
    } else if (law_.burst_share > 0) {
      landing_ *= 1 - 1 / law_.burst_units;
      classes_.back().entered +=
          landing_ * survival_[static_cast<std::size_t>(k_)] * after_restart_.is_over();
    }
    StackClass& last = classes_.back();
    const double at_work = p * after_restart_.in_state(w);
    if (k_ == 0) first_up_ = at_work;
    late_.add({p, survival_[static_cast<std::size_t>(k_)], age_, w, 1 + squared_variation_, c});
    age_ += visits_.at * w;
    last.dwell += at_work;
    last.squares += p * w * (w * (1 + squared_variation_) + 2 * last.passage);
    last.stay += p * w;
    last.passage += visits_.at * w;
    last.failures += patched;
    last.crowding += patched * before_;
    so_far_.dwell += p * w;
    so_far_.masked += masked;
    so_far_.failures += p;
    up_ += at_work;
    so_far_.starts += p * after_restart_.ends_in_state();
    work_ += at_work * c;
    before_ = crowding;
  }

  std::int64_t n_;
  const Survival& survival_;
  const Protection& protection_;
  const FailureLaw& law_;
  double squared_variation_;
  std::int64_t k_ = 0;  // states so far, and what they come to:
  CycleColumn so_far_;
  std::vector<StackClass> classes_;
  double work_ = 0;
  double up_ = 0;
  double first_up_ = 0;  // of that, the first state's
  double age_ = 0;       // at its beginning, were all states before visited
  LateCostsSoFar late_;
  double before_;       // failures per MTBF in the state before
  double landing_ = 0;  // chance that a burst from below the class leads to this state
  Visits visits_;
  AfterRestart after_restart_;
};

// 1, 2, ... in steps of about a half: the optimum is flat, and a k_max a fifth off costs 2 % of what restarts
// and lost groups cost.
std::vector<int> k_max_choices(std::int64_t states) {
  std::vector<int> choices;
  for (std::int64_t k = 1; k < states; k += std::max<std::int64_t>(1, k / 2))
    choices.push_back(static_cast<int>(k));
  return choices;
}

void set_laws(CycleColumn& column, const FailureLaw& law, const Survival& survival, std::int64_t n,
              const Efficiency& one_failure) {
  const bool one_failure_ends = survival.size() == 1 || column.k_max == 1;
  if (one_failure_ends) {
    column.efficiency = one_failure;
    column.one_failure_shape = law.weibull_shape;
  } else {
    // The first term of the sum over checkpoints that sees the law: f(0) tau^2/(12 A), f the density of the
    // cycle's length (Euler and Maclaurin).
    Visits visits;
    visits.advance(law);
    const double at_once =
        (1 - survives_leap(survival, 1, law, visits)) * static_cast<double>(n) * column.dwell;
    column.efficiency = kManyFailures;
    column.efficiency[0] += std::min(1.0, at_once) / 12;
  }
}

CycleTable table_of(std::int64_t n, const Protection& protection, const FailureLaw& law,
                    const Survival& survival, const ShapeFits& fits) {
  CycleTable table;
  table.units = n;
  table.restarts_fail = law.failures_in_restart;
  table.restart_mtbfs = law.restart_mtbfs;
  const auto states = static_cast<std::int64_t>(survival.size());
  const bool masks = states > 1;
  Columns columns(n, survival, protection, law);
  if (masks && protection.k_max < 0) {
    const std::vector<int> choices = k_max_choices(states);
    table.columns.reserve(choices.size() + 1);
    for (const int k : choices) table.columns.push_back(columns.column(k, k));
  }
  if (!masks || protection.k_max <= 0 || protection.k_max >= states) {
    table.columns.push_back(columns.column(states, 0));
  } else {
    table.columns.push_back(columns.column(protection.k_max, protection.k_max));
  }
  for (CycleColumn& column : table.columns) set_laws(column, law, survival, n, fits.one_failure);
  table.patches = fits.patches;
  table.masks = masks;
  if (masks) {
    const Patch patch = patch_of(protection);
    table.patch_stacks = patch.stacks;
    table.patch_steps = patch.steps;
  }
  return table;
}

CycleTable failed(ProtectionError error) {
  CycleTable table;
  table.error = error;
  return table;
}

}  // namespace

ShapeFits shape_fits(double weibull_shape) {
  return {one_failure(weibull_shape), patch_fit(weibull_shape)};
}

double stacks_needed(const Protection& protection, std::int64_t groups, std::int64_t lost) {
  const std::int64_t left = groups - lost;
  switch (protection.scheme) {
    case Scheme::kNone:
    case Scheme::kCheckpoint:
    case Scheme::kSpares:
      return 1;
    case Scheme::kReplication:
      return protection.r;
    case Scheme::kElastic:
      if (protection.sub_shards == 1) return static_cast<double>(groups) / static_cast<double>(left);
      break;
    case Scheme::kSpare:
      break;
  }
  const std::int64_t m = protection.sub_shards;
  return static_cast<double>((groups * m + left - 1) / left) / static_cast<double>(m);
}

Patch patch_of(const Protection& protection) {
  if (protection.scheme == Scheme::kElastic) return {0, 1};  // the step is done again
  if (protection.scheme != Scheme::kSpare || protection.r < 2) return {};
  // The lost group's types are computed by others that hold them: one stack more; of sub-shards each of the r
  // - 1 others takes its part.
  const int m = protection.sub_shards;
  const int others = protection.r - 1;
  return {static_cast<double>((m + others - 1) / others) / m, 0};
}

Survival data_survival(std::int64_t groups, const Protection& protection, Placement placement,
                       std::uint64_t seed) {
  switch (protection.scheme) {
    case Scheme::kNone:
    case Scheme::kCheckpoint:
    case Scheme::kSpares:
      break;
    case Scheme::kReplication:
      return family_survival(groups, protection.r);
    case Scheme::kSpare:
      return survival(groups, protection.r, placement, seed);
    case Scheme::kElastic:
      return Survival(static_cast<std::size_t>(groups), 1.0);
  }
  return {1.0};
}

Survival state_survival(std::int64_t groups, std::int64_t state_copies) {
  const bool sharded = state_copies > 0 && state_copies < groups;
  if (!sharded) return Survival(static_cast<std::size_t>(groups), 1.0);
  return family_survival(groups - groups % state_copies, static_cast<int>(state_copies));
}

Survival protection_survival(std::int64_t groups, const Protection& protection, std::int64_t state_copies,
                             Placement placement, std::uint64_t seed) {
  const Survival data = data_survival(groups, protection, placement, seed);
  return data.size() == 1 ? data : both(data, state_survival(groups, state_copies));
}

CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       const Survival& survival) {
  const ProtectionError error = check(groups, protection, law, groups);
  if (error != ProtectionError::kNone) return failed(error);
  if (survival.empty()) return failed(ProtectionError::kRedundancyAboveGroups);
  return table_of(groups, protection, law, survival, shape_fits(law.weibull_shape));
}

namespace {

std::int64_t copies_of(std::int64_t groups, std::int64_t state_copies) {
  return state_copies < 0 ? groups : state_copies;
}

// Nobody to take over: checkpoints.
bool is_lone(std::int64_t groups, const Protection& protection) {
  return groups == 1 && protection.scheme == Scheme::kElastic;
}

CycleTable build(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                 const Survival& lives, const ShapeFits& fits) {
  if (protection.rejoins && protection.scheme == Scheme::kElastic && lives.size() > 1) {
    CycleTable table;
    table.units = groups;
    table.rejoins = true;
    table.rejoining_lives = lives;
    table.law = law;
    table.masks = true;
    return table;
  }
  CycleTable table = table_of(groups, protection, law, lives, fits);
  table.starts_over = protection.scheme == Scheme::kNone;
  return table;
}

ProtectionError error_in(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                         std::int64_t copies) {
  return check(groups, protection, law, is_lone(groups, protection) ? 2 : copies);
}

}  // namespace

CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies) {
  return cycle_table(groups, protection, law, state_copies, Placement::kGolomb, 0);
}

CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies, const ShapeFits& fits, const Survival& lives) {
  const ProtectionError error = error_in(groups, protection, law, copies_of(groups, state_copies));
  if (error != ProtectionError::kNone) return failed(error);
  return build(groups, protection, law, lives, fits);
}

CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies, Placement placement, std::uint64_t seed) {
  const std::int64_t copies = copies_of(groups, state_copies);
  const ProtectionError error = error_in(groups, protection, law, copies);
  if (error != ProtectionError::kNone) return failed(error);
  return build(groups, protection, law, protection_survival(groups, protection, copies, placement, seed),
               shape_fits(law.weibull_shape));
}

bool is_valid(const Environment& environment) {
  return environment.group_mtbf_s > 0 && environment.restart_s >= 0 && environment.save_s >= 0 &&
         environment.detect_s >= 0 && environment.detect_s <= environment.restart_s &&
         environment.reorder_s >= 0 && environment.deep_save_s >= 0 && environment.deep_share >= 0 &&
         environment.deep_share <= 1 && environment.deep_restart_s >= 0 && environment.repair_s >= 0 &&
         environment.rejoin_s >= 0 && environment.idle_spares >= 0;
}

FailureLaw law_in(const FailureLaw& law, const Environment& environment) {
  FailureLaw inside = law;
  const double restart_s = environment.restart_s + environment.deep_share * environment.deep_restart_s;
  inside.restart_mtbfs = law.failures_in_restart ? restart_s / environment.group_mtbf_s : 0;
  return inside;
}

namespace {

bool is_of(const CycleTable& table, const Environment& environment) {
  if (!table.restarts_fail) return true;
  const double restart_mtbfs = law_in({.failures_in_restart = true}, environment).restart_mtbfs;
  return std::abs(restart_mtbfs - table.restart_mtbfs) <= 1e-9 * restart_mtbfs;
}

double time_of(double mean_s, const Moments& m, const std::optional<Chance>& chance) {
  return chance ? time_to_hold(mean_s, m, chance->deviate) : mean_s;
}

TimeSpread spread_of(double mean_s, const Moments& m) {
  TimeSpread spread{.mean_s = mean_s, .least_s = mean_s};
  // Not where nothing fails, or where it never ends.
  if (!std::isfinite(mean_s) || !std::isfinite(m.variance) || !(m.cycles > 0)) return spread;
  spread.least_s = m.least_s;
  spread.deviation_s = std::sqrt(m.variance);
  spread.cycles = m.cycles;
  return spread;
}

void set_interval(RunTime& run, const RunParts& parts, const CycleColumn& column, const CycleSums& sums,
                  const CycleRate& rate, const EnvironmentTerms& terms, double steps) {
  run.interval_s = 0;
  run.availability = 1;
  const double f = terms.failure_rate;
  if (!(f > 0)) return;
  const CycleShares shares = cycle_shares(column, sums, rate, terms);
  // Work is lost more seldom than in the mean over long runs, and saved in proportion.
  const double often = 1 - parts.spared.saves;
  run.interval_s = often > 0 ? shares.interval_s / often : 0;
  run.deep_interval_s = often > 0 ? shares.deep_interval_s / often : 0;
  // A voluntary restart's save is in the restarts.
  const double saves_s = interval_saves_s(column, sums, shares, steps) * often;
  run.availability = 1 - (parts.restarts_s * (1 - parts.spared.ends) + saves_s) / parts.time_s;
}

RunTime rejoining_run_time(const CycleTable& table, const StepModel& step, const Environment& environment,
                           double steps, const std::optional<Chance>& chance) {
  RunTime run;
  const RejoinTerms terms = rejoin_terms(table.units, table.rejoining_lives, table.law, environment);
  const double mean_s = rejoining_time_s(terms, step, steps);
  const Moments m = rejoining_moments(terms, step, steps, mean_s);
  run.time_s = time_of(mean_s, m, chance);
  run.spread = spread_of(mean_s, m);
  run.interval_s = terms.interval_s;
  run.availability = std::isfinite(mean_s) ? 1 - rejoin_shares(terms, step).down() : 0;
  return run;
}

}  // namespace

RunTime run_time(const CycleTable& table, const StepModel& step, const Environment& environment, double steps,
                 const std::optional<Chance>& chance) {
  RunTime best;
  best.time_s = std::numeric_limits<double>::infinity();
  best.availability = 0;
  best.spread = {.mean_s = best.time_s, .least_s = best.time_s};
  if (!is_valid(environment) || !is_of(table, environment)) return best;
  const EnvironmentTerms terms = environment_terms(environment);
  if (table.starts_over) {
    const double step_s = step.fixed_s + step.per_stack_s;
    const auto units = static_cast<double>(table.units);
    const double mean_s = time_to_train_from_scratch(units, terms, step_s, steps);
    const Moments m = moments_from_scratch(units, terms, step_s, steps);
    best.time_s = time_of(mean_s, m, chance);
    best.spread = spread_of(mean_s, m);
    // Every failure but none at the end costs a restart: rate x time up, time = up + restarts.
    best.availability = 1 / (1 + units * terms.failure_rate * terms.restart_s);
    return best;
  }
  if (table.masks && is_struck_too_often(static_cast<double>(table.units), terms.failure_rate, step))
    return best;
  if (table.rejoins) return rejoining_run_time(table, step, environment, steps, chance);
  for (const CycleColumn& column : table.columns) {
    const CycleSums sums = cycle_sums(table, column, step, terms.masked_s);
    const CycleRate rate = cycle_rate(sums, terms);
    const RunParts parts = run_parts(sums, late_sums(column, sums, step), column.late, rate, steps);
    const double mean_s = parts.time_s;
    const Moments m =
        moments(sums, spread_sums(column, step), rate, spread_rate(column, sums, terms), steps, mean_s);
    const double time_s = time_of(mean_s, m, chance);
    if (!(time_s < best.time_s)) continue;
    best.time_s = time_s;
    best.k_max = column.k_max;
    best.spread = spread_of(mean_s, m);
    set_interval(best, parts, column, sums, rate, terms, steps);
  }
  return best;
}

double least_run_time_s(const CycleTable& table, double least_step_s, double stack_share,
                        const Environment& best, double steps) {
  EnvironmentTerms terms = environment_terms(best);
  terms.voluntary_s = std::max(0.0, terms.voluntary_s);
  if (table.starts_over) {
    return time_to_train_from_scratch(static_cast<double>(table.units), terms, least_step_s, steps);
  }
  const StepModel step{least_step_s * (1 - stack_share), least_step_s * stack_share};
  double least = std::numeric_limits<double>::infinity();
  for (const CycleColumn& column : table.columns) {
    // The lag and the patches fall with the MTBF; without them the bound is looser but holds for all steps.
    CycleSums sums = cycle_sums(table, column, step, 0);
    sums.last_patch_s = 0.5 * sums.leaving * least_step_s;
    sums.last_again_s = 0;
    sums.patch_steps = 0;
    CycleRate rate = cycle_rate(sums, terms);
    rate.losing = 0;  // how checkpoints fit whole steps is not known for all of them
    const double mean_s = time_to_train(sums, rate, steps);
    const double work_s = steps * sums.step_s;
    const double cycles = steps * least_step_s * rate.failure_rate /
                          (column.late.at_work + 0.25 / static_cast<double>(table.units));
    least =
        std::min(least, table.masks && std::isfinite(mean_s) ? work_s + (mean_s - work_s) * least_left(cycles)
                                                             : mean_s);
  }
  return least;
}

}  // namespace trainfront::faults
