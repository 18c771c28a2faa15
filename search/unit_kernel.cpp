#include "search/unit_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/cycle_vector.hpp"

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

UnitKernel::UnitKernel(const BlockSetup& setup, const UnitSetup& unit, std::int64_t dp, Tables& tables)
    : nodes_{static_cast<double>(setup.nodes)} {
  const auto& entries = setup.space.problem().protections;
  const std::int64_t copies = faults::state_copies(unit.group_unit, dp, unit.state_copy_groups);
  std::size_t from_scratch = 0;
  for (const auto& usable : unit.protections) {
    Segment segment;
    segment.first = sources_.size();
    segment.first_scratch = from_scratch;
    for (int protection : usable) {
      const auto& entry = entries[static_cast<std::size_t>(protection)];
      if (entry.scheme == faults::Scheme::kNone) {
        segment.from_scratch.push_back(protection);
        continue;
      }
      const bool masks = faults::masks_failures(entry);
      const auto& table =
          tables.cycle(protection, masks ? unit.group_unit.units : setup.nodes, masks ? copies : -1);
      for (const auto& column : table.columns) add_column(protection, table, column);
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
  scratch_times_.resize(from_scratch);
}

void UnitKernel::add_column(int protection, const faults::CycleTable& table,
                            const faults::CycleColumn& column) {
  sources_.push_back(&column);
  const faults::CycleSums fixed = faults::cycle_sums(table, column, {0.0, 1.0});
  columns_.protection.push_back(protection);
  columns_.patch_stacks.push_back(table.patch_stacks);
  columns_.patch_steps.push_back(table.patch_steps);
  columns_.masked.push_back(column.masked);
  columns_.last_stacks.push_back(column.class_stacks[static_cast<std::size_t>(column.classes - 1)]);
  columns_.dwell.push_back(fixed.dwell);
  columns_.dwell_inverse.push_back(fixed.dwell_inverse);
  columns_.losing.push_back(fixed.losing);
  columns_.save_weight.push_back(fixed.save_weight);
  for (std::size_t i = 0; i < 4; ++i) {
    columns_.efficiency[i].push_back(fixed.efficiency[i]);
    columns_.restart_growth[i].push_back(fixed.restart_growth[i]);
  }
  classes_ = std::max(classes_, static_cast<std::size_t>(column.classes));
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
}

UnitKernel::Rate UnitKernel::rate_terms(const BlockSetup& setup, const UnitSetup& unit,
                                        double failures_per_node_s) const {
  const auto& entries = setup.space.problem().protections;
  const auto terms_of = [&](int protection) {
    const auto& entry = entries[static_cast<std::size_t>(protection)];
    faults::Environment environment = setup.recovery[static_cast<std::size_t>(protection)];
    const faults::FailingUnit node{.units = setup.nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
    environment.group_mtbf_s =
        unit_mtbf_s(failures_per_node_s, faults::masks_failures(entry) ? unit.group_unit : node);
    return faults::environment_terms(environment);
  };
  Rate rate;
  for (std::size_t j = 0; j < sources_.size(); ++j) {
    const faults::EnvironmentTerms terms = terms_of(columns_.protection[j]);
    rate.failure_rate.push_back(terms.failure_rate);
    rate.restart_s.push_back(terms.restart_s);
    rate.voluntary_s.push_back(terms.voluntary_s);
    rate.save_s.push_back(terms.save_s);
    rate.masked_s.push_back(terms.masked_s);
  }
  for (const Segment& segment : segments_)
    for (int protection : segment.from_scratch) rate.from_scratch.push_back(terms_of(protection));
  return rate;
}

faults::EnvironmentTerms UnitKernel::environment_terms(const Rate& rate, std::size_t j) const {
  return {.failure_rate = rate.failure_rate[j],
          .restart_s = rate.restart_s[j],
          .voluntary_s = rate.voluntary_s[j],
          .save_s = rate.save_s[j],
          .masked_s = rate.masked_s[j]};
}

void UnitKernel::set_step(const faults::StepModel& step, double steps) {
  steps_ = steps;
  step_s_ = step.fixed_s + step.per_stack_s;
  const ClassArrays cycles = {
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
  sum_cycles(cycles, step.fixed_s, step.per_stack_s, sums());
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

RateArrays UnitKernel::rate_arrays(const Rate& rate) const {
  RateArrays arrays;
  arrays.dwell = columns_.dwell.data();
  arrays.dwell_inverse = columns_.dwell_inverse.data();
  arrays.losing = columns_.losing.data();
  arrays.save_weight = columns_.save_weight.data();
  for (std::size_t i = 0; i < 4; ++i) {
    arrays.efficiency[i] = columns_.efficiency[i].data();
    arrays.restart_growth[i] = columns_.restart_growth[i].data();
  }
  arrays.failure_rate = rate.failure_rate.data();
  arrays.restart_s = rate.restart_s.data();
  arrays.voluntary_s = rate.voluntary_s.data();
  arrays.save_s = rate.save_s.data();
  arrays.masked_s = rate.masked_s.data();
  return arrays;
}

void UnitKernel::run(std::size_t rate_class) {
  const Rate& rate = rates_[rate_class];
  run_times(sources_.size(), sums(), rate_arrays(rate), steps_, times_.data());
  for (std::size_t j = 0; j < scratch_times_.size(); ++j)
    scratch_times_[j] = faults::time_to_train_from_scratch(nodes_, rate.from_scratch[j], step_s_, steps_);
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
