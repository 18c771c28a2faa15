#include "search/unit_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/spread_kernel.hpp"
#include "search/cycle_vector.hpp"

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

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
  for (std::size_t rate = 0; rate < setup.rates.size(); ++rate)
    rates_.push_back(rate_terms(setup, group_of_rate[rate], setup.rates[rate].node, state_copies, tables));
  for (auto* array : {&work_rate_, &patch_steps_, &shared_, &shared_twice_, &most_shared_, &last_patch_s_,
                      &full_step_s_, &seconds_, &gained_, &times_})
    array->resize(sources_.size());
  if (chance_) {
    for (auto* array : {&stay_steps_, &up_steps_, &step_squares_, &before_, &steps_before_})
      array->resize(sources_.size());
  }
  scratch_times_.resize(rates_.empty() ? 0 : rates_.front().from_scratch.size());
  rejoining_times_.resize(rates_.empty() ? 0 : rates_.front().rejoining.size());
}

faults::Environment UnitKernel::environment_of(const BlockSetup& setup, int number, const NodeFailures& node,
                                               Tables& tables) const {
  const auto& protection = setup.problem.protections[static_cast<std::size_t>(number)];
  return environment_in(setup.problem.failures, protection, setup.recovery[static_cast<std::size_t>(number)],
                        node, unit_, setup.nodes, tables.mean_wait_s(protection, node, setup.nodes));
}

void UnitKernel::add_group(const BlockSetup& setup, const ProtectionLists& protections, const RateClass& rate,
                           std::int64_t state_copies, Tables& tables) {
  Group group;
  group.first = sources_.size();
  std::size_t from_scratch = 0;
  std::size_t rejoining = 0;
  for (const auto& usable : protections) {
    Segment segment;
    segment.first = sources_.size();
    segment.first_scratch = from_scratch;
    segment.first_rejoining = rejoining;
    for (int protection : usable) {
      const auto& kind = setup.problem.protections[static_cast<std::size_t>(protection)];
      if (kind.scheme == faults::Scheme::kNone) {
        segment.from_scratch.push_back(protection);
        continue;
      }
      const faults::Environment environment = environment_of(setup, protection, rate.node, tables);
      const faults::FailureLaw law = law_in(setup.problem.failures, environment, rate.node);
      const auto table = tables.cycle(protection, unit_.units, state_copies, law);
      if (table->rejoins) {
        segment.rejoining.push_back(protection);
      } else {
        add_columns(protection, environment, table);
      }
    }
    segment.last = sources_.size();
    from_scratch += segment.from_scratch.size();
    rejoining += segment.rejoining.size();
    group.segments.push_back(std::move(segment));
  }
  group.last = sources_.size();
  groups_.push_back(std::move(group));
}

void UnitKernel::add_columns(int protection, const faults::Environment& environment,
                             const std::shared_ptr<const faults::CycleTable>& table) {
  for (const faults::CycleColumn& column : table->columns) {
    sources_.push_back(&column);
    owners_.push_back(table);
    columns_.protection.push_back(protection);
    columns_.patch_stacks.push_back(table->patch_stacks);
    columns_.patch_steps.push_back(table->patch_steps);
    columns_.masked_s.push_back(faults::environment_terms(environment).masked_s);
    columns_.losing.push_back(column.losing);
    columns_.last_stacks.push_back(column.class_stacks[static_cast<std::size_t>(column.classes - 1)]);
    classes_ = std::max(classes_, static_cast<std::size_t>(column.classes));
  }
}

void UnitKernel::lay_out_classes() {
  const std::size_t n = sources_.size();
  columns_.class_stacks.assign(n * classes_, 1.0);
  for (auto* array :
       {&columns_.class_dwell, &columns_.class_failures, &columns_.class_crowding, &columns_.class_entered})
    array->assign(n * classes_, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const faults::CycleColumn& column = *sources_[j];
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      columns_.class_stacks[i * n + j] = column.class_stacks[i];
      columns_.class_dwell[i * n + j] = column.class_dwell[i];
      columns_.class_failures[i * n + j] = column.class_failures[i];
      columns_.class_crowding[i * n + j] = column.class_crowding[i];
      columns_.class_entered[i * n + j] = column.class_entered[i];
    }
  }
  if (!chance_) return;
  for (auto* array : {&columns_.class_stay, &columns_.class_passage, &columns_.class_squares})
    array->assign(n * classes_, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const faults::CycleColumn& column = *sources_[j];
    columns_.dwell.push_back(column.dwell);
    columns_.up_squares.push_back(faults::up_squares(column));
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      columns_.class_stay[i * n + j] = column.class_stay[i];
      columns_.class_passage[i * n + j] = column.class_passage[i];
      columns_.class_squares[i * n + j] = column.class_squares[i];
    }
  }
}

UnitKernel::Rate UnitKernel::rate_terms(const BlockSetup& setup, std::size_t group, const NodeFailures& node,
                                        std::int64_t state_copies, Tables& tables) const {
  const auto terms_of = [&](int protection) {
    return faults::environment_terms(environment_of(setup, protection, node, tables));
  };
  Rate rate;
  rate.group = group;
  faults::EnvironmentTerms of_column;  // of the column before: choices of k_max share it
  int of_protection = -1;
  for (std::size_t j = groups_[group].first; j < groups_[group].last; ++j) {
    const faults::CycleSums unstepped =
        faults::cycle_sums(*owners_[j], *sources_[j], {0.0, 1.0}, columns_.masked_s[j]);
    if (columns_.protection[j] != of_protection) {
      of_protection = columns_.protection[j];
      of_column = terms_of(of_protection);
    }
    faults::CycleRate terms = faults::cycle_rate(unstepped, of_column);
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
    const faults::SpreadRate spread = faults::spread_rate(*sources_[j], unstepped, of_column);
    rate.saving.push_back(spread.saving);
    rate.lost.push_back(spread.lost);
    rate.lost_squares.push_back(spread.lost_squares);
    rate.restart_more.push_back(spread.restart_more);
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
      .columns = sources_.size(),
      .classes = classes_,
      .stacks = columns_.class_stacks.data(),
      .dwell = columns_.class_dwell.data(),
      .failures = columns_.class_failures.data(),
      .crowding = columns_.class_crowding.data(),
      .entered = columns_.class_entered.data(),
      .patch_stacks = columns_.patch_stacks.data(),
      .patch_steps = columns_.patch_steps.data(),
      .masked_s = columns_.masked_s.data(),
      .losing = columns_.losing.data(),
      .last_stacks = columns_.last_stacks.data(),
  };
}

void UnitKernel::set_step(const faults::StepModel& step, double steps) {
  steps_ = steps;
  step_ = step;
  step_s_ = step.fixed_s + step.per_stack_s;
  sum_cycles(classes(), step.fixed_s, step.per_stack_s, sums(0));
  if (!chance_) return;
  const SpreadClassArrays spreads = {.stay = columns_.class_stay.data(),
                                     .passage = columns_.class_passage.data(),
                                     .squares = columns_.class_squares.data()};
  sum_spreads(classes(), spreads, step.fixed_s, step.per_stack_s, spread_sums(0));
}

// Those of a group from `first` on.
SumArrays UnitKernel::sums(std::size_t first) {
  return {.work_rate = work_rate_.data() + first,
          .patch_steps = patch_steps_.data() + first,
          .shared = shared_.data() + first,
          .shared_twice = shared_twice_.data() + first,
          .most_shared = most_shared_.data() + first,
          .last_patch_s = last_patch_s_.data() + first,
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

RateArrays UnitKernel::arrays_of(const Rate& rate) {
  return {.failure_rate = rate.failure_rate.data(),
          .efficiency = rate.efficiency.data(),
          .interval = rate.interval.data(),
          .losing = rate.losing.data(),
          .cycle = rate.cycle.data()};
}

void UnitKernel::run_columns(const RateArrays& arrays) {
  const Group& group = groups_[rates_[rate_].group];
  run_times(group.last - group.first, sums(group.first), arrays, steps_, times_.data() + group.first);
}

void UnitKernel::run(std::size_t rate_class) {
  rate_ = rate_class;
  const Rate& rate = rates_[rate_class];
  run_columns(arrays_of(rate));
  for (std::size_t j = 0; j < scratch_times_.size(); ++j)
    scratch_times_[j] = faults::time_to_train_from_scratch(units_, rate.from_scratch[j], step_s_, steps_);
  for (std::size_t j = 0; j < rejoining_times_.size(); ++j)
    rejoining_times_[j] = faults::rejoining_time_s(rate.rejoining[j], step_, steps_);
  if (chance_) hold(rate);
}

void UnitKernel::hold(const Rate& rate) {
  const Group& group = groups_[rate.group];
  const SpreadArrays spreads = {.dwell = columns_.dwell.data() + group.first,
                                .losing = columns_.losing.data() + group.first,
                                .up_squares = columns_.up_squares.data() + group.first,
                                .saving = rate.saving.data(),
                                .lost = rate.lost.data(),
                                .lost_squares = rate.lost_squares.data(),
                                .restart_more = rate.restart_more.data()};
  hold_times(group.last - group.first, sums(group.first), spread_sums(group.first), arrays_of(rate), spreads,
             steps_, chance_->deviate, times_.data() + group.first);
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
  for (std::size_t j = segment.first; j < segment.last; ++j) {
    const int protection = columns_.protection[j];
    if (best.empty() || best.back().protection != protection) best.push_back({protection, kNever});
    best.back().time_s = std::min(best.back().time_s, times_[j]);
  }
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    best.push_back({segment.from_scratch[j], scratch_times_[segment.first_scratch + j]});
  for (std::size_t j = 0; j < segment.rejoining.size(); ++j)
    best.push_back({segment.rejoining[j], rejoining_times_[segment.first_rejoining + j]});
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
