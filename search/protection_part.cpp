#include "search/protection_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/late_kernel.hpp"
#include "search/mild_failures.hpp"

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// More than all roundings on the way from a step to its time together.
constexpr double kGuard = 1 + 1e-9;

}  // namespace

ProtectionPart::ProtectionPart(const BlockSetup& setup, const ProtectionLists& protections,
                               std::uint64_t legal, const faults::FailingUnit& unit,
                               std::int64_t state_copies, bool masking, Tables& tables)
    : setup_{setup},
      protections_{protections},
      legal_{legal},
      unit_{unit},
      state_copies_{state_copies},
      masking_{masking},
      tables_{tables} {
  if (masking_) mild_step_s_ = tables_.mild_step_s(key(), [&] { return most_step_of_mild_failures(); });
}

UnitKernel& ProtectionPart::kernel() {
  const auto make = [&] {
    return std::make_unique<UnitKernel>(setup_, protections_, unit_, state_copies_, tables_);
  };
  if (!kernel_) kernel_ = tables_.kernels().borrow(key(), make);
  return *kernel_;
}

bool ProtectionPart::is_used(std::size_t cell) const {
  return setup_.cells[cell].legal_offers > 0 && !protections_[cell % setup_.spares.size()].empty();
}

double ProtectionPart::dominated_work_at_least_overhead(double stack_share, const DominatedTimes& dominated) {
  if (!masking_) return dominated_work(0, dominated);
  const int number = static_cast<int>(std::clamp(stack_share, 0.0, 1.0) * kBuckets);
  Bucket& bucket = without_tables_[static_cast<std::size_t>(number)];
  if (bucket.factor.empty())
    bucket.factor = *tables_.factors(key(), number - (kBuckets + 1), [&] {
      return factors_without_tables(static_cast<double>(number) / kBuckets);
    });
  return dominated_work(bucket, dominated);
}

double ProtectionPart::dominated_work(double stack_share, const DominatedTimes& dominated) {
  const int number = static_cast<int>(std::clamp(stack_share, 0.0, 1.0) * kBuckets);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
  if (bucket.factor.empty()) learn_factors(number, bucket.factor);
  return dominated_work(bucket, dominated);
}

double ProtectionPart::dominated_work(Bucket& bucket, const DominatedTimes& dominated) {
  if (bucket.version == dominated.version) return bucket.work_s;
  bucket.version = dominated.version;
  double work_s = 0;
  for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell) {
    if (!is_used(cell)) continue;
    const double time_s = dominated.from_s[cell];
    // Factors grow with the length: of that of the least work which may be dominated and of all longer ones.
    const double* factors = bucket.factor.data() + cell * UnitKernel::kLengths;
    if (std::isfinite(factors[0])) {
      const double least_work_s = time_s / factors[UnitKernel::kLengths - 1];
      const RateClass& rate = setup_.rates[cell / setup_.spares.size()];
      work_s = std::max(work_s, time_s / factors[UnitKernel::length_of(least_work_s * failures_per_s(rate))]);
    }
    if (!masking_)
      work_s = std::max(work_s, kernel().work_from_scratch(cell / setup_.spares.size(),
                                                           cell % setup_.spares.size(), time_s));
  }
  return bucket.work_s = work_s * kGuard;
}

// Least time over work. Replication computes r stacks all along. The others run at one stack only while
// nothing is lost; each cycle begins so and ends with a restart, so that they pay a restart per failure or
// the first step of stacks, whichever is less. Before a voluntary restart up to half a step is left.
double ProtectionPart::failures_per_s(const RateClass& rate) const {
  return static_cast<double>(unit_.units) / unit_mtbf_s(rate.node.events_per_s(), unit_);
}

std::vector<double> ProtectionPart::factors_without_tables(double stack_share) const {
  // Classes of stacks close to each other are merged; that may gain a little of the first step's cost.
  constexpr double kMerging = 0.995;
  std::vector<double> factors;
  for (const RateClass& rate : setup_.rates) {
    for (const auto& usable : protections_) {
      for (std::size_t length = 0; length < UnitKernel::kLengths; ++length) {
        // Of a cycle of up to nine times its first stay no less is left of the end's costs, and of any cycle
        // of the first loss's.
        const double left_over = faults::least_left(UnitKernel::least_failures(length) * (1.6 / 9));
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
                                        : failures_per_s(rate) * std::min(terms.restart_s, terms.voluntary_s);
            const double left = protection.k_max == 0 ? 0 : 0.5 / faults::kFewestStepsPerFailure;
            // Whole shards of a lost group are spread evenly over the others, sub-shards go to some of them.
            const bool spreads = protection.scheme == faults::Scheme::kElastic && protection.sub_shards == 1;
            const double first_stacks =
                spreads ? 1 / (static_cast<double>(unit_.units) - 1) : 1.0 / protection.sub_shards;
            const double more = std::min(restarts / (1 + left), 0.8 * stack_share * first_stacks);
            factor = std::max(1.0, kMerging * (1 + more * left_over));
          }
          least = std::min(least, factor);
        }
        factors.push_back(least);
      }
    }
  }
  return factors;
}

double ProtectionPart::most_step_of_mild_failures() const {
  const MildFailures mild(setup_, unit_, tables_);
  double most_step_s = kNever;
  for (const RateClass& rate : setup_.rates)
    for (const auto& usable : protections_)
      for (int number : usable) most_step_s = std::min(most_step_s, mild.most_step_s(rate.node, number));
  return most_step_s;
}

// Blocks of other shapes ask for the same, here and below: these decide which protections work, and how often
// what fails.
Tables::PartKey ProtectionPart::key() const {
  return {setup_.hardware_class, setup_.gpus, unit_.units, unit_.nodes_per_unit, state_copies_, masking_};
}

void ProtectionPart::learn_factors(int bucket, std::vector<double>& factors) {
  factors = *tables_.factors(key(), bucket, [&] {
    std::vector<double> of_cell;
    kernel().least_factors(static_cast<double>(bucket) / kBuckets, of_cell);
    return of_cell;
  });
}

void ProtectionPart::learn_certainty(double step_s) {
  // Tables are made for those of which that is not known anyway, on steps that are not much longer.
  const double long_step_s = std::max(4 * step_s, 300.0);
  const auto learn = [this, long_step_s] {
    const MildFailures mild(setup_, unit_, tables_);
    std::vector<Certainty> by_cell(setup_.cells.size());
    ProtectionLists doubtful(protections_.size());
    for (std::size_t spare = 0; spare < protections_.size(); ++spare) {
      for (int number : protections_[spare]) {
        const std::vector<Certainty> by_rate = certainties_without_tables(mild, number, long_step_s);
        if (by_rate.empty()) doubtful[spare].push_back(number);
        for (std::size_t rate = 0; rate < by_rate.size(); ++rate)
          by_cell[rate * setup_.spares.size() + spare].add(by_rate[rate]);
      }
    }
    const UnitKernel asked(setup_, doubtful, unit_, state_copies_, tables_);
    for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell)
      if (is_used(cell))
        by_cell[cell].add(asked.certainty(cell / setup_.spares.size(), cell % setup_.spares.size()));
    return by_cell;
  };
  certainty_ = tables_.certainty(key(), learn);
}

// By failure rate what is certain of a protection whose failures are mild, at each of them, up to steps that
// are long or struck too often; else none.
std::vector<Certainty> ProtectionPart::certainties_without_tables(const MildFailures& mild, int protection,
                                                                  double long_step_s) const {
  std::vector<Certainty> by_rate;
  if (!masking_ || unit_.units < 2) return by_rate;
  for (const RateClass& rate : setup_.rates) {
    const double most_step_s = mild.most_progressing_step_s(rate.node, protection);
    const double struck_from_s = mild.struck_from_s(rate.node);
    if (most_step_s < std::min(long_step_s, struck_from_s)) return {};
    by_rate.push_back({.most_masking_step_s = most_step_s, .struck_from_s = struck_from_s, .masking = 1});
  }
  return by_rate;
}

bool ProtectionPart::progress_is_known(double least_work_s, double most_work_s, double step_s) {
  if (!std::isfinite(least_work_s)) return false;
  if (step_s <= mild_step_s_) return true;
  if (masking_ && !std::isfinite(step_s)) return false;  // the tables can wait until the step is known
  if (!certainty_) learn_certainty(masking_ ? step_s : 0);
  return std::all_of(certainty_->begin(), certainty_->end(), [&](const Certainty& certainty) {
    return certainty.is_known(step_s, least_work_s, most_work_s);
  });
}

ProtectionPart::Endless ProtectionPart::endless(double least_work_s, double step_s) const {
  Endless pairs;
  if (!certainty_ || step_s <= mild_step_s_) return pairs;
  for (std::size_t cell = 0; cell < certainty_->size(); ++cell) {
    const Certainty& certainty = (*certainty_)[cell];
    const auto offers = static_cast<std::uint64_t>(setup_.cells[cell].legal_offers);
    pairs.all += offers * certainty.endless(step_s, least_work_s);
    pairs.struck += offers * certainty.struck(step_s);
  }
  return pairs;
}

}  // namespace trainfront::search
