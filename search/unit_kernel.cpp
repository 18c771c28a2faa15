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
    : chance_{setup.chance}, units_{static_cast<double>(unit.units)} {
  std::size_t from_scratch = 0;
  for (const auto& usable : protections) {
    Segment segment;
    segment.first = sources_.size();
    segment.first_scratch = from_scratch;
    for (int protection : usable) {
      if (setup.problem.protections[static_cast<std::size_t>(protection)].scheme == faults::Scheme::kNone) {
        segment.from_scratch.push_back(protection);
      } else {
        add_columns(protection, tables.cycle(protection, unit.units, state_copies));
      }
    }
    segment.last = sources_.size();
    from_scratch += segment.from_scratch.size();
    segments_.push_back(std::move(segment));
  }
  lay_out_classes();
  for (const RateClass& rate : setup.rates)
    rates_.push_back(rate_terms(setup, unit, rate.failures_per_node_s));
  for (auto* array : {&work_rate_, &patch_steps_, &stop_steps_, &last_patch_s_, &full_step_s_, &seconds_,
                      &gained_, &times_})
    array->resize(sources_.size());
  if (chance_) {
    for (auto* array : {&up_steps_, &step_squares_, &before_, &steps_before_}) array->resize(sources_.size());
  }
  scratch_times_.resize(from_scratch);
}

void UnitKernel::add_columns(int protection, const std::shared_ptr<const faults::CycleTable>& table) {
  for (const faults::CycleColumn& column : table->columns) {
    sources_.push_back(&column);
    owners_.push_back(table);
    columns_.protection.push_back(protection);
    columns_.patch_stacks.push_back(table->patch_stacks);
    columns_.patch_steps.push_back(table->patch_steps);
    columns_.masked.push_back(column.masked);
    columns_.losing.push_back(column.losing);
    columns_.last_stacks.push_back(column.class_stacks[static_cast<std::size_t>(column.classes - 1)]);
    classes_ = std::max(classes_, static_cast<std::size_t>(column.classes));
  }
}

void UnitKernel::lay_out_classes() {
  const std::size_t n = sources_.size();
  columns_.class_stacks.assign(n * classes_, 1.0);
  for (auto* array : {&columns_.class_dwell, &columns_.class_failures, &columns_.class_entered})
    array->assign(n * classes_, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const faults::CycleColumn& column = *sources_[j];
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      columns_.class_stacks[i * n + j] = column.class_stacks[i];
      columns_.class_dwell[i * n + j] = column.class_dwell[i];
      columns_.class_failures[i * n + j] = column.class_failures[i];
      columns_.class_entered[i * n + j] = column.class_entered[i];
    }
  }
  if (!chance_) return;
  for (auto* array : {&columns_.class_passage, &columns_.class_squares}) array->assign(n * classes_, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const faults::CycleColumn& column = *sources_[j];
    columns_.dwell.push_back(column.dwell);
    columns_.up_squares.push_back(faults::up_squares(column));
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      columns_.class_passage[i * n + j] = column.class_passage[i];
      columns_.class_squares[i * n + j] = column.class_squares[i];
    }
  }
}

UnitKernel::Rate UnitKernel::rate_terms(const BlockSetup& setup, const faults::FailingUnit& unit,
                                        double failures_per_node_s) const {
  const auto terms_of = [&](int protection) {
    faults::Environment environment = setup.recovery[static_cast<std::size_t>(protection)];
    environment.group_mtbf_s = unit_mtbf_s(failures_per_node_s, unit);
    return faults::environment_terms(environment);
  };
  Rate rate;
  for (std::size_t j = 0; j < sources_.size(); ++j) {
    const faults::CycleSums unstepped = faults::cycle_sums(*owners_[j], *sources_[j], {0.0, 1.0});
    const faults::EnvironmentTerms environment = terms_of(columns_.protection[j]);
    const faults::CycleRate terms = faults::cycle_rate(unstepped, environment);
    rate.failure_rate.push_back(terms.failure_rate);
    rate.masked_s.push_back(terms.masked_s);
    rate.efficiency.push_back(terms.efficiency);
    rate.cycle.push_back(terms.progress ? terms.cycle : kNever);
    if (!chance_) continue;
    const faults::SpreadRate spread = faults::spread_rate(*sources_[j], unstepped, environment);
    rate.saving.push_back(spread.saving);
    rate.interval.push_back(spread.interval);
    rate.restart_more.push_back(spread.restart_more);
  }
  for (const Segment& segment : segments_)
    for (int protection : segment.from_scratch) rate.from_scratch.push_back(terms_of(protection));
  return rate;
}

faults::CycleRate UnitKernel::cycle_rate(const Rate& rate, std::size_t j) {
  return {.failure_rate = rate.failure_rate[j],
          .masked_s = rate.masked_s[j],
          .efficiency = rate.efficiency[j],
          .cycle = rate.cycle[j]};
}

ClassArrays UnitKernel::classes() const {
  return {
      .columns = sources_.size(),
      .classes = classes_,
      .stacks = columns_.class_stacks.data(),
      .dwell = columns_.class_dwell.data(),
      .failures = columns_.class_failures.data(),
      .entered = columns_.class_entered.data(),
      .patch_stacks = columns_.patch_stacks.data(),
      .patch_steps = columns_.patch_steps.data(),
      .masked = columns_.masked.data(),
      .losing = columns_.losing.data(),
      .last_stacks = columns_.last_stacks.data(),
  };
}

void UnitKernel::set_step(const faults::StepModel& step, double steps) {
  steps_ = steps;
  step_s_ = step.fixed_s + step.per_stack_s;
  sum_cycles(classes(), step.fixed_s, step.per_stack_s, sums());
  if (!chance_) return;
  const SpreadClassArrays spreads = {.passage = columns_.class_passage.data(),
                                     .squares = columns_.class_squares.data()};
  sum_spreads(classes(), spreads, step.fixed_s, step.per_stack_s, spread_sums());
}

SumArrays UnitKernel::sums() {
  return {.work_rate = work_rate_.data(),
          .patch_steps = patch_steps_.data(),
          .stop_steps = stop_steps_.data(),
          .last_patch_s = last_patch_s_.data(),
          .step_s = full_step_s_.data(),
          .seconds = seconds_.data(),
          .gained = gained_.data()};
}

SpreadSumArrays UnitKernel::spread_sums() {
  return {.up_steps = up_steps_.data(),
          .step_squares = step_squares_.data(),
          .before = before_.data(),
          .steps_before = steps_before_.data()};
}

RateArrays UnitKernel::arrays_of(const Rate& rate) {
  return {.failure_rate = rate.failure_rate.data(),
          .masked_s = rate.masked_s.data(),
          .efficiency = rate.efficiency.data(),
          .cycle = rate.cycle.data()};
}

void UnitKernel::run_means(std::size_t rate_class) {
  const Rate& rate = rates_[rate_class];
  run_times(sources_.size(), sums(), arrays_of(rate), steps_, times_.data());
  for (std::size_t j = 0; j < scratch_times_.size(); ++j)
    scratch_times_[j] = faults::time_to_train_from_scratch(units_, rate.from_scratch[j], step_s_, steps_);
}

void UnitKernel::run(std::size_t rate_class) {
  run_means(rate_class);
  if (!chance_) return;
  const Rate& rate = rates_[rate_class];
  const SpreadArrays spreads = {.dwell = columns_.dwell.data(),
                                .losing = columns_.losing.data(),
                                .up_squares = columns_.up_squares.data(),
                                .saving = rate.saving.data(),
                                .interval = rate.interval.data(),
                                .restart_more = rate.restart_more.data()};
  hold_times(sources_.size(), sums(), spread_sums(), arrays_of(rate), spreads, steps_, chance_->deviate,
             times_.data());
  for (std::size_t j = 0; j < scratch_times_.size(); ++j) {
    const faults::Moments m = faults::moments_from_scratch(units_, rate.from_scratch[j], step_s_, steps_);
    scratch_times_[j] = faults::time_to_hold(scratch_times_[j], m, chance_->deviate);
  }
}

double UnitKernel::least_time_s(std::size_t spare) const {
  const Segment& segment = segments_[spare];
  const double of_columns = least_of(times_.data() + segment.first, segment.last - segment.first);
  const double from_scratch =
      least_of(scratch_times_.data() + segment.first_scratch, segment.from_scratch.size());
  return std::min(of_columns, from_scratch);
}

int UnitKernel::first_with(std::size_t spare, double time_s) const {
  const Segment& segment = segments_[spare];
  int first = std::numeric_limits<int>::max();
  for (std::size_t j = segment.first; j < segment.last; ++j)
    if (times_[j] == time_s) first = std::min(first, columns_.protection[j]);
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    if (scratch_times_[segment.first_scratch + j] == time_s) first = std::min(first, segment.from_scratch[j]);
  return first;
}

void UnitKernel::best_times(std::size_t spare, std::vector<ProtectionTime>& best) const {
  best.clear();
  const Segment& segment = segments_[spare];
  for (std::size_t j = segment.first; j < segment.last; ++j) {
    const int protection = columns_.protection[j];
    if (best.empty() || best.back().protection != protection) best.push_back({protection, kNever});
    best.back().time_s = std::min(best.back().time_s, times_[j]);
  }
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    best.push_back({segment.from_scratch[j], scratch_times_[segment.first_scratch + j]});
}

bool UnitKernel::may_be_endless(std::size_t spare) const {
  const Segment& segment = segments_[spare];
  bool endless = false;
  for (std::size_t j = segment.first; j < segment.last; ++j) endless |= !(times_[j] <= kCertainlyFinite_s);
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j)
    endless |= !(scratch_times_[segment.first_scratch + j] <= kCertainlyFinite_s);
  return endless;
}

}  // namespace trainfront::search
