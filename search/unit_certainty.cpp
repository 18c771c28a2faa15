#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/late_kernel.hpp"
#include "search/unit_kernel.hpp"

// What can be said of all steps at once: lower bounds on time, and who makes progress. Proofs in
// docs/search.md.
namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Slowdowns this far from the limit are on their side of it however the kernel rounds.
constexpr double kSurelyBelow = 0.999 * faults::kMostSlowdown;
constexpr double kSurelyAbove = 1.001 * faults::kMostSlowdown;

}  // namespace

void UnitKernel::least_factors(double stack_share, std::vector<double>& of_cell) {
  set_step({1.0 - stack_share, stack_share}, 1.0);
  for (auto* lost : {&patch_steps_, &last_patch_s_, &last_again_s_, &left_share_})
    std::fill(lost->begin(), lost->end(), 0.0);
  // What is left of the step in which a cycle leaves by itself, at its most.
  std::vector<double> most_left(cycles_.source.size());
  for (std::size_t i = 0; i < most_left.size(); ++i) {
    most_left[i] = 0.5 * cycles_.leaving[i] / (faults::kFewestStepsPerFailure * units_);
    work_rate_[i] += most_left[i];
  }
  // How checkpoints fit whole steps depends on the step.
  const std::vector<double> zeros(columns(), 0.0);
  of_cell.clear();
  for (rate_ = 0; rate_ < rates_.size(); ++rate_) {
    const Group& group = groups_[rates_[rate_].group];
    std::vector<double> cycle = rates_[rate_].cycle;
    for (std::size_t j = group.first; j < group.last; ++j)
      cycle[j - group.first] += most_left[columns_.cycle[j]];
    for (const Run& run : group.runs) {
      RateArrays arrays = arrays_of(rates_[rate_], run.column - group.first);
      arrays.interval = zeros.data();
      arrays.losing = zeros.data();
      arrays.cycle = cycle.data() + (run.column - group.first);
      run_times(run.count, sums(run.cycle), arrays, steps_, times_.data() + run.column);
    }
    for (const Segment& segment : group.segments) {
      double least = kNever;
      for (std::size_t j = 0; j < segment.rejoining.size(); ++j) {
        // Without steps done again and pauses.
        const faults::RejoinTerms& terms = rates_[rate_].rejoining[segment.first_rejoining + j];
        const double slowdown = (1 + stack_share * (terms.stacks - 1)) * terms.waiting / terms.kept;
        least = std::min(least, terms.progress ? slowdown : kNever);
      }
      const bool is_empty = segment.first == segment.last && segment.rejoining.empty();
      // A slowdown at the limit counts as progress or not by its last bit.
      const double rejoining = is_empty ? kNever : std::min(least, kSurelyBelow);
      for (std::size_t length = 0; length < kLengths; ++length)
        of_cell.push_back(std::min(rejoining, least_factor(segment, least_failures(length))));
    }
  }
  rate_ = 0;
}

// Among the columns, of runs whose work sees so many failures or more; times_ are of long runs.
double UnitKernel::least_factor(const Segment& segment, double failures) const {
  double least = kNever;
  for (std::size_t j = segment.first; j < segment.last; ++j) {
    const std::size_t cycle = columns_.cycle[j];
    const double factor = std::min(times_[j], kSurelyBelow);
    if (!cycles_.table[cycle]->masks) {
      least = std::min(least, factor);
      continue;
    }
    const double cycles = failures / (units_ * cycles_.at_work[cycle] + 0.25);
    const double work = full_step_s_[cycle];
    least = std::min(least, work + (factor - work) * faults::least_left(cycles));
  }
  return least;
}

std::size_t UnitKernel::length_of(double failures) {
  if (!(failures >= 1)) return 0;
  constexpr auto kLast = static_cast<int>(kLengths) - 1;
  return std::isfinite(failures) ? static_cast<std::size_t>(std::min(kLast, std::ilogb(failures) + 1))
                                 : kLengths - 1;
}

double UnitKernel::least_failures(std::size_t length) {
  return length == 0 ? 0 : std::ldexp(1.0, static_cast<int>(length) - 1);
}

double UnitKernel::work_from_scratch(std::size_t rate, std::size_t spare, double time_s) const {
  const Segment& segment = this->segment(rate, spare);
  double most = 0;
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j) {
    const faults::EnvironmentTerms& e = rates_[rate].from_scratch[segment.first_scratch + j];
    // time = (1/a + T_r)(e^(a work) - 1), solved for the work.
    const double a = units_ * e.failure_rate;
    most = std::max(most, a > 0 ? std::log1p(a * time_s / (1.0 + a * e.restart_s)) / a : time_s);
  }
  return most;
}

namespace {

// Patches a failure at the most, where many are hit themselves: of the fits for all Weibull shapes.
constexpr double kMostPatches = 1.15;

// Further patches that a step takes which is hit, for steps and patches of up to so many failures.
double most_repeats(const faults::PatchFit& fit, double step, double patch) {
  return patch *
         (std::max(0.0, fit.patch) + std::max(0.0, fit.patch_twice) * patch + std::max(0.0, fit.both) * step);
}

}  // namespace

// True if the plan makes progress on every step whose T(1) is at most this, whatever share of it grows with
// the stacks: each loss is taken at its most, T(c) between T(c_0) and c/c_0 times that.
bool UnitKernel::surely_progresses(const Rate& rate, std::size_t j, double most_step_s) const {
  const std::size_t cycle = columns_.cycle[j];
  const faults::CycleColumn& column = *cycles_.source[cycle];
  const auto classes = static_cast<std::size_t>(column.classes);
  const double full_s = most_step_s * column.class_stacks[0];
  faults::CycleSums least;
  double failures = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    least.work_rate += column.class_dwell[i] * column.class_stacks[0] / column.class_stacks[i];
    failures += column.class_failures[i];
  }
  // In units of T(c_0): rates are per full step. No failures share a patch, and some hit patches.
  least.work_rate /= full_s;
  least.patch_steps =
      (cycles_.patch_stacks[cycle] + cycles_.patch_steps[cycle] + cycles_.masked_s[cycle] / full_s) *
      (kMostPatches * std::max(failures, column.masked));
  const double slowest_s = full_s * column.class_stacks[classes - 1] / column.class_stacks[0];
  const double end_s = full_s * column.end_stacks / column.class_stacks[0];
  const faults::CycleEnd end =
      faults::cycle_end(1 - column.losing, cycles_.patch_stacks[cycle], cycles_.patch_steps[cycle], full_s,
                        slowest_s, end_s, cycles_.masked_s[cycle]);
  const double failures_per_s = units_ * rate.unit_failures_per_s;
  const double patch_s =
      std::max(end.whole_patch_s, cycles_.patch_stacks[cycle] * full_s +
                                      cycles_.patch_steps[cycle] * slowest_s + cycles_.masked_s[cycle]);
  least.last_patch_s = end.last_patch_s + end.last_again_s * most_repeats(cycles_.table[cycle]->patches,
                                                                          failures_per_s * slowest_s,
                                                                          failures_per_s * patch_s);
  least.step_s = full_s * (kSurelyBelow / faults::kMostSlowdown);
  // Whatever the interval in whole steps, it costs at most as much as one that no step fits.
  faults::CycleRate worst = cycle_rate(rate, j);
  worst.interval = 0;
  return std::isfinite(faults::time_to_train(least, worst, 1.0));
}

// T(1) up to which the plan surely makes progress; -infinity if it surely never does.
double UnitKernel::most_step_s(const Rate& rate, std::size_t j) const {
  const faults::CycleRate terms = cycle_rate(rate, j);
  if (!(terms.failure_rate > 0)) return kNever;
  for (double step_s : {1e6, 1e5, 1e4, 1e3, 1e2, 10.0, 1.0})
    if (surely_progresses(rate, j, step_s)) return step_s;
  const std::size_t cycle = columns_.cycle[j];
  const bool patched = cycles_.patch_stacks[cycle] > 0 || cycles_.patch_steps[cycle] > 0;
  const faults::CycleColumn& column = *cycles_.source[cycle];
  if (patched || column.classes > 1 || column.losing < 1) return 0;
  // All but stops and whole steps is in proportion to T: without those one step tells of all.
  faults::CycleRate best = terms;
  best.losing = 0;
  faults::CycleSums sums;
  sums.work_rate = column.class_dwell[0];
  sums.step_s = kSurelyAbove / faults::kMostSlowdown;
  return std::isfinite(faults::time_to_train(sums, best, 1.0)) ? 0.0 : -kNever;
}

namespace {

// T(1) up to which steps that are done again, and pauses, surely leave progress; -infinity if they never do.
double most_step_of_rejoining(const faults::RejoinTerms& terms) {
  if (!terms.progress) return -kNever;
  for (double step_s : {1e6, 1e5, 1e4, 1e3, 1e2, 10.0, 1.0}) {
    const double again_s = step_s * terms.stacks + terms.again_s;
    // A step is hit with at most event_rate T(c); what follows grows with the step.
    const double per_step_s =
        terms.event_rate * (std::exp(terms.event_rate * again_s) * again_s + terms.pause_s);
    if (terms.stacks * (1 + per_step_s) * terms.waiting / terms.kept <= kSurelyBelow) return step_s;
  }
  return 0;
}

}  // namespace

Certainty UnitKernel::certainty(std::size_t rate_class, std::size_t spare) const {
  const Rate& rate = rates_[rate_class];
  const Segment& segment = this->segment(rate_class, spare);
  Certainty certainty;
  const auto add = [&](bool masking, double most) {
    if (masking) ++certainty.masking;
    if (most < 0) {
      ++(masking ? certainty.endless_masking : certainty.endless_plain);
    } else {
      double& limit = masking ? certainty.most_masking_step_s : certainty.most_step_s;
      limit = std::min(limit, most);
    }
  };
  for (std::size_t j = segment.first; j < segment.last;) {
    const int protection = columns_.protection[j];
    const bool masking = masks(j);
    double most = -kNever;  // of the choices of k_max one suffices
    for (; j < segment.last && columns_.protection[j] == protection; ++j)
      most = std::max(most, most_step_s(rate, j));
    add(masking, most);
  }
  for (std::size_t j = 0; j < segment.rejoining.size(); ++j)
    add(true, most_step_of_rejoining(rate.rejoining[segment.first_rejoining + j]));
  const double failures_per_s = units_ * rate.unit_failures_per_s;
  if (certainty.masking > 0 && failures_per_s > 0)
    certainty.struck_from_s = 1 / (faults::kFewestStepsPerFailure * failures_per_s);
  for (std::size_t j = 0; j < segment.from_scratch.size(); ++j) {
    const faults::EnvironmentTerms& e = rate.from_scratch[segment.first_scratch + j];
    const double a = units_ * e.failure_rate;
    if (!(a > 0)) continue;
    // (1 + a T_r)(e^x - 1)/x grows with x = a work: bisect for where it passes the limit.
    const auto slowdown = [&](double x) { return (1.0 + a * e.restart_s) * std::expm1(x) / x; };
    double below = 1e-12;
    double above = 64;  // e^64/64 is beyond any limit
    if (slowdown(below) >= kSurelyBelow) below = 0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (below + above);
      (slowdown(middle) < faults::kMostSlowdown ? below : above) = middle;
    }
    certainty.most_work_s = std::min(certainty.most_work_s, below / a * (1 - 1e-6));
    certainty.least_work_s = std::max(certainty.least_work_s, above / a * (1 + 1e-6));
    ++certainty.endless_from_scratch;
  }
  return certainty;
}

}  // namespace trainfront::search
