#include "search/protection_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// More than all roundings on the way from a step to its time together.
constexpr double kGuard = 1 + 1e-9;

}  // namespace

ProtectionPart::ProtectionPart(const BlockSetup& setup, ProtectionLists protections, std::uint64_t legal,
                               const faults::FailingUnit& unit, std::int64_t state_copies, bool masking,
                               Tables& tables)
    : setup_{setup},
      protections_{std::move(protections)},
      legal_{legal},
      unit_{unit},
      state_copies_{state_copies},
      masking_{masking},
      tables_{tables} {
  if (masking_) mild_step_s_ = most_step_of_mild_failures();
}

UnitKernel& ProtectionPart::kernel() {
  if (!kernel_) kernel_ = std::make_unique<UnitKernel>(setup_, protections_, unit_, state_copies_, tables_);
  return *kernel_;
}

bool ProtectionPart::is_used(std::size_t cell) const {
  return setup_.cells[cell].legal_offers > 0 && !protections_[cell % setup_.spares.size()].empty();
}

double ProtectionPart::dominated_work_at_least_overhead(double stack_share, const DominatedTimes& dominated) {
  if (!masking_) return dominated_work(0, dominated);
  const int number = static_cast<int>(std::clamp(stack_share, 0.0, 1.0) * kBuckets);
  Bucket& bucket = without_tables_[static_cast<std::size_t>(number)];
  if (bucket.factor.empty()) bucket.factor = factors_without_tables(static_cast<double>(number) / kBuckets);
  return dominated_work(bucket, dominated);
}

double ProtectionPart::dominated_work(double stack_share, const DominatedTimes& dominated) {
  const int number = static_cast<int>(std::clamp(stack_share, 0.0, 1.0) * kBuckets);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
  if (bucket.factor.empty()) kernel().least_factors(static_cast<double>(number) / kBuckets, bucket.factor);
  return dominated_work(bucket, dominated);
}

double ProtectionPart::dominated_work(Bucket& bucket, const DominatedTimes& dominated) {
  if (bucket.version == dominated.version) return bucket.work_s;
  bucket.version = dominated.version;
  double work_s = 0;
  for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell) {
    if (!is_used(cell)) continue;
    const double time_s = dominated.from_s[cell];
    if (std::isfinite(bucket.factor[cell])) work_s = std::max(work_s, time_s / bucket.factor[cell]);
    if (!masking_)
      work_s = std::max(work_s, kernel().work_from_scratch(cell / setup_.spares.size(),
                                                           cell % setup_.spares.size(), time_s));
  }
  return bucket.work_s = work_s * kGuard;
}

// Least time over work. Replication computes r stacks all along. The others run at one stack only while
// nothing is lost; each cycle begins so and ends with a restart, so that they pay a restart per failure or
// the first step of stacks, whichever is less.
std::vector<double> ProtectionPart::factors_without_tables(double stack_share) const {
  // Classes of stacks close to each other are merged; that may gain a little of the first step's cost.
  constexpr double kMerging = 0.995;
  std::vector<double> factors;
  for (const RateClass& rate : setup_.rates) {
    const double failures_per_s =
        static_cast<double>(unit_.units) / unit_mtbf_s(rate.node.events_per_s(), unit_);
    for (const auto& usable : protections_) {
      double least = kNever;
      for (int number : usable) {
        const auto& protection = setup_.problem.protections[static_cast<std::size_t>(number)];
        const auto terms = faults::environment_terms(setup_.recovery[static_cast<std::size_t>(number)]);
        double factor = 1;
        if (protection.rejoins) {
          factor = 1;  // no cycle that ends
        } else if (protection.scheme == faults::Scheme::kReplication) {
          factor = 1 + stack_share * (protection.r - 1);
        } else {
          // Where restarts can fail they pass in the cycle's first states.
          const double restarts = setup_.problem.failures.law.failures_in_restart
                                      ? 0
                                      : failures_per_s * std::min(terms.restart_s, terms.voluntary_s);
          factor = std::max(1.0, kMerging * (1 + std::min(restarts, stack_share / protection.sub_shards)));
        }
        least = std::min(least, factor);
      }
      factors.push_back(least);
    }
  }
  return factors;
}

// Failures are mild where the mean time between those of all units together is long against saves and steps,
// and not too short against restarts. Then no way of masking them slows the training a thousandfold, and none
// need be looked at one by one.
double ProtectionPart::most_step_of_mild_failures() const {
  constexpr double kMostSave = 0.5 * Tables::kShortSave * Tables::kShortSave;
  constexpr double kMostLost = 0.2;
  constexpr double kMostSlowdown = 0.98 * faults::kMostSlowdown;
  const double units = static_cast<double>(unit_.units);
  const faults::FailureLaw& law = setup_.problem.failures.law;
  // Slowdown by stacks, work that patches and stops leave, and what a last patch adds, each at its worst.
  const double most_stacks = law.rate_falls ? 2 * (std::log(units) + 1) : 4;
  // Checkpoints at whole steps: a cycle has K >= 2.5 of them (one, if the rate is constant), of which at most
  // 1/2K goes to an interval that no step fits.
  const double whole_steps = (law.rate_falls ? 0.75 : 0.5) * (law.failures_in_restart ? 0.6 : 1);
  const double kept = (law.rate_falls ? 0.5 : 0.2) * whole_steps * tables_.least_efficiency();
  // Where restarts can fail at least half the cycle is left for work.
  const double most_save = law.failures_in_restart ? kMostSave / 2 : kMostSave;
  const double last_patch = (law.rate_falls ? 8 : 16) * kMostLost;
  double most_step_s = kNever;
  for (const RateClass& rate : setup_.rates) {
    const double failures_per_s = units / unit_mtbf_s(rate.node.events_per_s(), unit_);
    for (const auto& usable : protections_) {
      for (int number : usable) {
        const auto terms = faults::environment_terms(setup_.recovery[static_cast<std::size_t>(number)]);
        const auto& costs = setup_.recovery[static_cast<std::size_t>(number)];
        const double restarts =
            failures_per_s * std::max(terms.restart_s + costs.deep_restart_s, terms.voluntary_s);
        if (setup_.problem.protections[static_cast<std::size_t>(number)].rejoins &&
            !is_mild_rejoining(rate.node, costs, restarts))
          return -1;
        if (law.failures_in_restart && !(restarts <= 0.5)) return -1;
        const double cycle = law.failures_in_restart ? 1 / (1 - restarts) : 1 + restarts;
        if (!(failures_per_s * std::max(terms.save_s, terms.deep_save_s) <= most_save)) return -1;
        const double of_deep_saves = terms.deep_save_s > 0 ? tables_.least_efficiency() : 1;
        if (!((cycle * most_stacks + last_patch) / (kept * of_deep_saves) <= kMostSlowdown)) return -1;
        if (failures_per_s > 0)
          most_step_s = std::min(most_step_s, kMostLost / failures_per_s - terms.masked_s);
      }
    }
  }
  return most_step_s;
}

// Units that come back, in mild failures of less than 0.2 steps each: with at most half the units away T(c)
// is at most 2 T(1); done again it costs less than 2.2 T(1) (0.4 e^0.8 of 2.4 T(1)), pauses at most 2 T(1)
// and restarts elevenfold what checkpoints leave.
bool ProtectionPart::is_mild_rejoining(const NodeFailures& node, const faults::Environment& costs,
                                       double restarts) const {
  const double nodes_lost_per_s = node.failures_per_s + node.preemptions_per_s * node.preempted_together;
  const double away = nodes_lost_per_s * static_cast<double>(unit_.nodes_per_unit) * costs.repair_s;
  const double units = static_cast<double>(unit_.units);
  const double pauses = units / unit_mtbf_s(node.events_per_s(), unit_) * costs.rejoin_s;
  return away <= 0.5 && pauses <= 1 && restarts <= 10;
}

// Blocks of other shapes ask for the same: these decide which protections work, and how often what fails.
void ProtectionPart::learn_certainty() {
  const auto learn = [this] {
    std::vector<Certainty> by_cell;
    for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell)
      by_cell.push_back(is_used(cell)
                            ? kernel().certainty(cell / setup_.spares.size(), cell % setup_.spares.size())
                            : Certainty{.most_step_s = kNever, .most_work_s = kNever});
    return by_cell;
  };
  certainty_ = tables_.certainty(
      {setup_.hardware_class, setup_.gpus, unit_.units, unit_.nodes_per_unit, state_copies_, masking_},
      learn);
}

bool ProtectionPart::progress_is_known(double least_work_s, double most_work_s, double most_step_s) {
  if (!std::isfinite(least_work_s)) return false;
  if (most_step_s <= mild_step_s_) return true;
  if (masking_ && !std::isfinite(most_step_s)) return false;  // the tables can wait until the step is known
  if (!certainty_) learn_certainty();
  return std::all_of(certainty_->begin(), certainty_->end(), [&](const Certainty& certainty) {
    return most_step_s <= certainty.most_step_s &&
           (most_work_s <= certainty.most_work_s || least_work_s >= certainty.least_work_s);
  });
}

std::uint64_t ProtectionPart::endless(double least_work_s) {
  std::uint64_t pairs = 0;
  if (!certainty_) return pairs;  // failures are mild
  for (std::size_t cell = 0; cell < certainty_->size(); ++cell) {
    const Certainty& certainty = (*certainty_)[cell];
    const bool from_scratch_too =
        certainty.endless_from_scratch > 0 && least_work_s >= certainty.least_work_s;
    const std::uint64_t protections =
        certainty.endless + (from_scratch_too ? certainty.endless_from_scratch : 0);
    pairs += protections * static_cast<std::uint64_t>(setup_.cells[cell].legal_offers);
  }
  return pairs;
}

}  // namespace trainfront::search
