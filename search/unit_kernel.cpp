#include "search/unit_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "faults/spread_kernel.hpp"
#include "search/cycle_vector.hpp"

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

template <class... T>
std::size_t bytes_of(const std::vector<T>&... arrays) {
  return (... + (arrays.capacity() * sizeof(T)));
}

}  // namespace

UnitKernel::UnitKernel(const BlockSetup& setup, const ProtectionLists& protections,
                       const faults::FailingUnit& unit, std::int64_t state_copies, Tables& tables)
    : chance_{setup.chance}, unit_{unit}, units_{static_cast<double>(unit.units)} {
  std::vector<std::size_t> group_of_rate;
  for (std::size_t rate = 0; rate < setup.rates.size(); ++rate) {
    std::size_t same = 0;
    while (same < rate && !setup.share_columns(setup.rates[same], setup.rates[rate])) ++same;
    if (same < rate) {
      group_of_rate.push_back(group_of_rate[same]);
      continue;
    }
    group_of_rate.push_back(groups_.size());
    add_group(setup, protections, setup.rates[rate], state_copies, tables);
  }
  lay_out_classes();
  std::vector<faults::CycleSums> unstepped;
  unstepped.resize(cycles_.source.size());
  for (std::size_t i = 0; i < unstepped.size(); ++i)
    faults::set_cycle(unstepped[i], *cycles_.table[i], *cycles_.source[i]);
  for (std::size_t rate = 0; rate < setup.rates.size(); ++rate)
    rates_.push_back(
        rate_terms(setup, group_of_rate[rate], setup.rates[rate].node, state_copies, unstepped, tables));
  for (auto* array :
       {&work_rate_, &patch_steps_, &shared_, &shared_twice_, &patch_rate_, &again_, &again_twice_,
        &most_shared_, &last_patch_s_, &last_again_s_, &left_share_, &full_step_s_, &seconds_, &gained_})
    array->resize(cycles_.source.size());
  lay_out_late();
  if (chance_) {
    for (auto* array : {&stay_steps_, &up_steps_, &step_squares_, &before_, &steps_before_})
      array->resize(cycles_.source.size());
  }
  times_.resize(columns());
  scratch_times_.resize(rates_.empty() ? 0 : rates_.front().from_scratch.size());
  rejoining_times_.resize(rates_.empty() ? 0 : rates_.front().rejoining.size());
}

std::size_t UnitKernel::bytes() const {
  std::size_t bytes = sizeof(*this) + cycles_.source.size() * sizeof(faults::CycleColumn);
  for (const Group& group : groups_) bytes += sizeof(group) + bytes_of(group.segments, group.runs);
  bytes += bytes_of(cycles_.table, cycles_.source, columns_.protection, columns_.cycle);
  for (const auto* array :
       {&cycles_.patch_stacks, &cycles_.patch_steps, &cycles_.masked_s, &cycles_.losing, &cycles_.leaving,
        &cycles_.last_stacks, &cycles_.end_stacks, &cycles_.last_crowding, &cycles_.class_stacks,
        &cycles_.class_dwell, &cycles_.class_failures, &cycles_.class_crowding, &cycles_.class_entered,
        &cycles_.dwell, &cycles_.up_squares, &cycles_.class_stay, &cycles_.class_passage,
        &cycles_.class_squares, &times_})
    bytes += bytes_of(*array);
  bytes += 19 * bytes_of(work_rate_);  // and the other sums
  bytes += 11 * bytes_of(cycles_.ends) + 6 * bytes_of(first_);
  for (const Rate& rate : rates_)
    bytes += sizeof(rate) + (chance_ ? 11 : 5) * bytes_of(rate.failure_rate) +
             bytes_of(rate.from_scratch, rate.rejoining);
  return bytes;
}

faults::Environment UnitKernel::environment_of(const BlockSetup& setup, int number, const NodeFailures& node,
                                               Tables& tables) const {
  const auto& protection = setup.problem.protections[static_cast<std::size_t>(number)];
  return environment_in(setup.problem.failures, protection, setup.recovery[static_cast<std::size_t>(number)],
                        node, unit_, setup.nodes, tables.mean_wait_s(protection, node, setup.nodes));
}

void UnitKernel::add_group(const BlockSetup& setup, const ProtectionLists& protections, const RateClass& rate,
                           std::int64_t state_copies, Tables& tables) {
  const FailureModel& failures = setup.problem.failures;
  Group group;
  group.first = columns();
  struct Known {
    std::shared_ptr<const faults::CycleTable> table;
    std::size_t first_cycle = 0;
  };
  // By cycle (Tables::cycle_of), the law's restart and the stop for a masked failure.
  std::map<std::tuple<int, double, double>, Known> known;
  std::size_t from_scratch = 0;
  std::size_t rejoining = 0;
  for (const auto& usable : protections) {
    Segment segment;
    segment.first = columns();
    segment.first_scratch = from_scratch;
    segment.first_rejoining = rejoining;
    std::vector<Cycling> cycling;
    for (int protection : usable) {
      const auto& kind = setup.problem.protections[static_cast<std::size_t>(protection)];
      if (kind.scheme == faults::Scheme::kNone) {
        segment.from_scratch.push_back(protection);
        continue;
      }
      // Only a restart that can fail is the law's matter, and then how often it does.
      const faults::Environment environment = failures.law.failures_in_restart
                                                  ? environment_of(setup, protection, rate.node, tables)
                                                  : setup.recovery[static_cast<std::size_t>(protection)];
      const faults::FailureLaw law = law_in(failures, environment, rate.node);
      const double masked_s = faults::environment_terms(environment).masked_s;
      const auto [entry, is_new] =
          known.try_emplace({tables.cycle_of(protection), law.restart_mtbfs, masked_s});
      auto& [table, first_cycle] = entry->second;
      if (is_new) {
        table = tables.cycle(protection, unit_.units, state_copies, law);
        first_cycle = cycles_.source.size();
        if (!table->rejoins) add_cycles(table, masked_s);
      }
      if (table->rejoins) {
        segment.rejoining.push_back(protection);
        continue;
      }
      cycling.push_back({protection, first_cycle, table->columns.size()});
    }
    add_columns(std::move(cycling), group);
    segment.last = columns();
    from_scratch += segment.from_scratch.size();
    rejoining += segment.rejoining.size();
    group.segments.push_back(std::move(segment));
  }
  group.last = columns();
  groups_.push_back(std::move(group));
}

void UnitKernel::add_cycles(const std::shared_ptr<const faults::CycleTable>& table, double masked_s) {
  for (const faults::CycleColumn& column : table->columns) {
    cycles_.table.push_back(table);
    cycles_.source.push_back(&column);
    cycles_.patch_stacks.push_back(table->patch_stacks);
    cycles_.patch_steps.push_back(table->patch_steps);
    cycles_.masked_s.push_back(masked_s);
    cycles_.losing.push_back(column.losing);
    cycles_.leaving.push_back((1 - column.losing) * column.starts);
    cycles_.last_stacks.push_back(column.class_stacks[static_cast<std::size_t>(column.classes - 1)]);
    cycles_.end_stacks.push_back(column.end_stacks);
    cycles_.last_crowding.push_back(column.last_crowding);
    classes_ = std::max(classes_, static_cast<std::size_t>(column.classes));
  }
}

// Tiers of one protection take turns, so that each turn's columns follow the cycles.
void UnitKernel::add_columns(std::vector<Cycling> protections, Group& group) {
  std::map<std::size_t, int> seen;
  for (Cycling& protection : protections) protection.turn = seen[protection.cycle]++;
  std::sort(protections.begin(), protections.end(), [](const Cycling& a, const Cycling& b) {
    return std::pair{a.turn, a.cycle} < std::pair{b.turn, b.cycle};
  });
  for (const Cycling& protection : protections) {
    if (group.runs.empty() || group.runs.back().cycle + group.runs.back().count != protection.cycle)
      group.runs.push_back({.column = columns(), .cycle = protection.cycle, .count = 0});
    group.runs.back().count += protection.count;
    for (std::size_t i = 0; i < protection.count; ++i) {
      columns_.protection.push_back(protection.protection);
      columns_.cycle.push_back(protection.cycle + i);
    }
  }
}

void UnitKernel::lay_out_classes() {
  const std::size_t n = cycles_.source.size();
  cycles_.class_stacks.assign(n * classes_, 1.0);
  for (auto* array :
       {&cycles_.class_dwell, &cycles_.class_failures, &cycles_.class_crowding, &cycles_.class_entered})
    array->assign(n * classes_, 0.0);
  // Few cycles at a time, so that a line of each array is written at once.
  constexpr std::size_t kAtOnce = 8;
  for (std::size_t first = 0; first < n; first += kAtOnce) {
    const std::size_t last = std::min(n, first + kAtOnce);
    for (std::size_t i = 0; i < classes_; ++i) {
      for (std::size_t j = first; j < last; ++j) {
        const faults::CycleColumn& column = *cycles_.source[j];
        if (i >= static_cast<std::size_t>(column.classes)) continue;
        cycles_.class_stacks[i * n + j] = column.class_stacks[i];
        cycles_.class_dwell[i * n + j] = column.class_dwell[i];
        cycles_.class_failures[i * n + j] = column.class_failures[i];
        cycles_.class_crowding[i * n + j] = column.class_crowding[i];
        cycles_.class_entered[i * n + j] = column.class_entered[i];
      }
    }
  }
  if (!chance_) return;
  for (auto* array : {&cycles_.class_stay, &cycles_.class_passage, &cycles_.class_squares})
    array->assign(n * classes_, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const faults::CycleColumn& column = *cycles_.source[j];
    cycles_.dwell.push_back(column.dwell);
    cycles_.up_squares.push_back(faults::up_squares(column));
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      cycles_.class_stay[i * n + j] = column.class_stay[i];
      cycles_.class_passage[i * n + j] = column.class_passage[i];
      cycles_.class_squares[i * n + j] = column.class_squares[i];
    }
  }
}

void UnitKernel::lay_out_late() {
  const std::size_t n = cycles_.source.size();
  for (const auto& table : cycles_.table) masking_ |= table->masks;
  if (!masking_) return;
  for (auto* array : {&mean_step_s_, &first_, &more_, &first_lag_, &first_inverse_, &settled_})
    array->resize(n);
  for (const faults::CycleColumn* column : cycles_.source) {
    const faults::LateCosts& late = column->late;
    cycles_.at_work.push_back(late.at_work);
    cycles_.at_work_inverse.push_back(late.at_work_inverse);
    cycles_.others.push_back(late.others);
    cycles_.first_stacks.push_back(late.first_stacks);
    cycles_.settled.push_back(late.settled);
    cycles_.further.push_back(late.further.cycles);
    cycles_.further_inverse.push_back(late.further.inverse);
    cycles_.further_sharp.push_back(late.further.sharp);
    cycles_.ends.push_back(late.ends.cycles);
    cycles_.ends_inverse.push_back(late.ends.inverse);
    cycles_.ends_sharp.push_back(late.ends.sharp);
  }
}

LateArrays UnitKernel::late(std::size_t first) const {
  return {.at_work = cycles_.at_work.data() + first,
          .at_work_inverse = cycles_.at_work_inverse.data() + first,
          .others = cycles_.others.data() + first,
          .first_stacks = cycles_.first_stacks.data() + first,
          .settled = cycles_.settled.data() + first,
          .further = cycles_.further.data() + first,
          .further_inverse = cycles_.further_inverse.data() + first,
          .further_sharp = cycles_.further_sharp.data() + first,
          .ends = cycles_.ends.data() + first,
          .ends_inverse = cycles_.ends_inverse.data() + first,
          .ends_sharp = cycles_.ends_sharp.data() + first};
}

LateSumArrays UnitKernel::late_sums(std::size_t first) {
  return {.mean_step_s = mean_step_s_.data() + first,
          .first = first_.data() + first,
          .more = more_.data() + first,
          .first_lag = first_lag_.data() + first,
          .first_inverse = first_inverse_.data() + first,
          .settled = settled_.data() + first};
}

UnitKernel::Rate UnitKernel::rate_terms(const BlockSetup& setup, std::size_t group, const NodeFailures& node,
                                        std::int64_t state_copies,
                                        const std::vector<faults::CycleSums>& unstepped,
                                        Tables& tables) const {
  const auto terms_of = [&](int protection) {
    return faults::environment_terms(environment_of(setup, protection, node, tables));
  };
  Rate rate;
  rate.group = group;
  rate.unit_failures_per_s = 1 / unit_mtbf_s(node.events_per_s(), unit_);
  faults::EnvironmentTerms of_column;  // of the column before: choices of k_max share it
  int of_protection = -1;
  const std::size_t group_columns = groups_[group].last - groups_[group].first;
  for (auto* array : {&rate.failure_rate, &rate.efficiency, &rate.interval, &rate.losing, &rate.cycle})
    array->reserve(group_columns);
  for (std::size_t j = groups_[group].first; j < groups_[group].last; ++j) {
    const faults::CycleSums& sums = unstepped[columns_.cycle[j]];
    if (columns_.protection[j] != of_protection) {
      of_protection = columns_.protection[j];
      of_column = terms_of(of_protection);
    }
    faults::CycleRate terms = faults::cycle_rate(sums, of_column);
    if (!terms.progress) {
      // Beyond where the efficiency's polynomial means anything, a sign even.
      terms.cycle = kNever;
      terms.efficiency = 1;
      terms.interval = terms.losing = 0;
    }
    rate.failure_rate.push_back(terms.failure_rate);
    rate.efficiency.push_back(terms.efficiency);
    rate.interval.push_back(terms.interval);
    rate.losing.push_back(terms.losing);
    rate.cycle.push_back(terms.cycle);
    if (!chance_) continue;
    const faults::SpreadRate spread =
        faults::spread_rate(*cycles_.source[columns_.cycle[j]], sums, of_column);
    rate.saving.push_back(spread.saving);
    rate.lost.push_back(spread.lost);
    rate.lost_squares.push_back(spread.lost_squares);
    rate.restart_more.push_back(spread.restart_more);
    rate.restart_variance.push_back(spread.restart_variance);
    rate.restart_lost.push_back(spread.restart_lost);
  }
  for (const Segment& segment : groups_[group].segments) {
    for (int protection : segment.from_scratch) rate.from_scratch.push_back(terms_of(protection));
    for (int protection : segment.rejoining) {
      const faults::Environment environment = environment_of(setup, protection, node, tables);
      const faults::FailureLaw law = law_in(setup.problem.failures, environment, node);
      const auto table = tables.cycle(protection, unit_.units, state_copies, law);
      rate.rejoining.push_back(
          faults::rejoin_terms(table->units, table->rejoining_lives, table->law, environment));
    }
  }
  return rate;
}

faults::CycleRate UnitKernel::cycle_rate(const Rate& rate, std::size_t column) const {
  const std::size_t j = column - groups_[rate.group].first;
  return {.failure_rate = rate.failure_rate[j],
          .efficiency = rate.efficiency[j],
          .interval = rate.interval[j],
          .losing = rate.losing[j],
          .cycle = rate.cycle[j]};
}

ClassArrays UnitKernel::classes() const {
  return {
      .columns = cycles_.source.size(),
      .classes = classes_,
      .stacks = cycles_.class_stacks.data(),
      .dwell = cycles_.class_dwell.data(),
      .failures = cycles_.class_failures.data(),
      .crowding = cycles_.class_crowding.data(),
      .entered = cycles_.class_entered.data(),
      .patch_stacks = cycles_.patch_stacks.data(),
      .patch_steps = cycles_.patch_steps.data(),
      .masked_s = cycles_.masked_s.data(),
      .leaving = cycles_.leaving.data(),
      .last_stacks = cycles_.last_stacks.data(),
      .end_stacks = cycles_.end_stacks.data(),
      .last_crowding = cycles_.last_crowding.data(),
      .patches = cycles_.table.empty() ? faults::PatchFit{} : cycles_.table.front()->patches,
  };
}

void UnitKernel::set_step(const faults::StepModel& step, double steps) {
  steps_ = steps;
  step_ = step;
  step_s_ = step.fixed_s + step.per_stack_s;
  sum_cycles(classes(), step.fixed_s, step.per_stack_s, sums(0));
  if (masking_)
    sum_late(cycles_.source.size(), late(0), sums(0), step.per_stack_s / step_s_, step_s_, late_sums(0));
  if (!chance_) return;
  const SpreadClassArrays spreads = {.stay = cycles_.class_stay.data(),
                                     .passage = cycles_.class_passage.data(),
                                     .squares = cycles_.class_squares.data()};
  sum_spreads(classes(), spreads, step.fixed_s, step.per_stack_s, spread_sums(0));
}

// Those of the cycles from `first` on.
SumArrays UnitKernel::sums(std::size_t first) {
  return {.work_rate = work_rate_.data() + first,
          .patch_steps = patch_steps_.data() + first,
          .shared = shared_.data() + first,
          .shared_twice = shared_twice_.data() + first,
          .patch_rate = patch_rate_.data() + first,
          .again = again_.data() + first,
          .again_twice = again_twice_.data() + first,
          .most_shared = most_shared_.data() + first,
          .last_patch_s = last_patch_s_.data() + first,
          .last_again_s = last_again_s_.data() + first,
          .left_share = left_share_.data() + first,
          .step_s = full_step_s_.data() + first,
          .seconds = seconds_.data() + first,
          .gained = gained_.data() + first};
}

SpreadSumArrays UnitKernel::spread_sums(std::size_t first) {
  return {.steps = stay_steps_.data() + first,
          .up_steps = up_steps_.data() + first,
          .step_squares = step_squares_.data() + first,
          .before = before_.data() + first,
          .steps_before = steps_before_.data() + first};
}

// Those of the group's columns from the `first` on.
RateArrays UnitKernel::arrays_of(const Rate& rate, std::size_t first) {
  return {.failure_rate = rate.failure_rate.data() + first,
          .efficiency = rate.efficiency.data() + first,
          .interval = rate.interval.data() + first,
          .losing = rate.losing.data() + first,
          .cycle = rate.cycle.data() + first};
}

void UnitKernel::run(std::size_t rate_class) {
  rate_ = rate_class;
  const Rate& rate = rates_[rate_class];
  const Group& group = groups_[rate.group];
  for (const Run& run : group.runs) {
    const RateArrays rates = arrays_of(rate, run.column - group.first);
    double* times = times_.data() + run.column;
    if (masking_)
      run_parts_times(run.count, sums(run.cycle), late(run.cycle), late_sums(run.cycle), rates, steps_,
                      times);
    else
      run_times(run.count, sums(run.cycle), rates, steps_, times);
  }
  for (std::size_t j = 0; j < scratch_times_.size(); ++j)
    scratch_times_[j] = faults::time_to_train_from_scratch(units_, rate.from_scratch[j], step_s_, steps_);
  for (std::size_t j = 0; j < rejoining_times_.size(); ++j)
    rejoining_times_[j] = faults::rejoining_time_s(rate.rejoining[j], step_, steps_);
  if (chance_) hold(rate);
  if (!is_struck(rate)) return;
  for (std::size_t j = group.first; j < group.last; ++j)
    if (masks(j)) times_[j] = kNever;
  std::fill(rejoining_times_.begin(), rejoining_times_.end(), kNever);
}

void UnitKernel::hold(const Rate& rate) {
  const Group& group = groups_[rate.group];
  for (const Run& run : group.runs) {
    const std::size_t first = run.column - group.first;
    const SpreadArrays spreads = {.dwell = cycles_.dwell.data() + run.cycle,
                                  .losing = cycles_.losing.data() + run.cycle,
                                  .up_squares = cycles_.up_squares.data() + run.cycle,
                                  .saving = rate.saving.data() + first,
                                  .lost = rate.lost.data() + first,
                                  .lost_squares = rate.lost_squares.data() + first,
                                  .restart_more = rate.restart_more.data() + first,
                                  .restart_variance = rate.restart_variance.data() + first,
                                  .restart_lost = rate.restart_lost.data() + first};
    hold_times(run.count, sums(run.cycle), spread_sums(run.cycle), arrays_of(rate, first), spreads, steps_,
               chance_->deviate, times_.data() + run.column);
  }
  for (std::size_t j = 0; j < scratch_times_.size(); ++j) {
    const faults::Moments m = faults::moments_from_scratch(units_, rate.from_scratch[j], step_s_, steps_);
    scratch_times_[j] = faults::time_to_hold(scratch_times_[j], m, chance_->deviate);
  }
  for (std::size_t j = 0; j < rejoining_times_.size(); ++j) {
    double& time_s = rejoining_times_[j];
    time_s = faults::time_to_hold(time_s, faults::rejoining_moments(rate.rejoining[j], step_, steps_, time_s),
                                  chance_->deviate);
  }
}

double UnitKernel::least_time_s(std::size_t spare) const {
  const Segment& segment = this->segment(rate_, spare);
  const double of_columns = least_of(times_.data() + segment.first, segment.last - segment.first);
  const double from_scratch =
      least_of(scratch_times_.data() + segment.first_scratch, segment.from_scratch.size());
  const double rejoining =
      least_of(rejoining_times_.data() + segment.first_rejoining, segment.rejoining.size());
  return std::min({of_columns, from_scratch, rejoining});
}

int UnitKernel::first_with(std::size_t spare, double time_s) const {
  const Segment& segment = this->segment(rate_, spare);
  int first = std::numeric_limits<int>::max();
  for (std::size_t j = segment.first; j < segment.last; ++j)
    if (times_[j] == time_s) first = std::min(first, columns_.protection[j]);
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    if (scratch_times_[segment.first_scratch + j] == time_s) first = std::min(first, segment.from_scratch[j]);
  for (std::size_t j = 0; j < segment.rejoining.size(); ++j)
    if (rejoining_times_[segment.first_rejoining + j] == time_s)
      first = std::min(first, segment.rejoining[j]);
  return first;
}

void UnitKernel::best_times(std::size_t spare, std::vector<ProtectionTime>& best) const {
  best.clear();
  const Segment& segment = this->segment(rate_, spare);
  const bool struck = is_struck(rates_[rate_]);
  for (std::size_t j = segment.first; j < segment.last; ++j) {
    const int protection = columns_.protection[j];
    if (best.empty() || best.back().protection != protection)
      best.push_back({protection, kNever, struck && masks(j)});
    best.back().time_s = std::min(best.back().time_s, times_[j]);
  }
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    best.push_back({segment.from_scratch[j], scratch_times_[segment.first_scratch + j], false});
  for (std::size_t j = 0; j < segment.rejoining.size(); ++j)
    best.push_back({segment.rejoining[j], rejoining_times_[segment.first_rejoining + j], struck});
}

bool UnitKernel::may_be_endless(std::size_t spare) const {
  const Segment& segment = this->segment(rate_, spare);
  bool endless = false;
  for (std::size_t j = segment.first; j < segment.last; ++j) endless |= !(times_[j] <= kCertainlyFinite_s);
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    endless |= !(scratch_times_[segment.first_scratch + j] <= kCertainlyFinite_s);
  for (std::size_t j = 0; j < segment.rejoining.size(); ++j)
    endless |= !(rejoining_times_[segment.first_rejoining + j] <= kCertainlyFinite_s);
  return endless;
}

}  // namespace trainfront::search
