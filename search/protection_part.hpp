#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/block_setup.hpp"
#include "search/unit_kernel.hpp"
#include "search/unit_setup.hpp"

namespace trainfront::search {

class MildFailures;

// For each cell, the time from which on its plans are strictly dominated. `version` changes whenever one of
// them does.
struct DominatedTimes {
  std::vector<double> from_s;
  std::uint64_t version = 1;
};

// The legal protections of some layouts, all of one part (UnitSetup): from how much work on (steps times
// T(1)) they are dominated, and whether they make progress. The kernel is got when first needed. Proofs in
// docs/search.md.
class ProtectionPart {
 public:
  // `setup` and `protections` must outlive it.
  ProtectionPart(const BlockSetup& setup, const ProtectionLists& protections, std::uint64_t legal,
                 const faults::FailingUnit& unit, std::int64_t state_copies, bool masking, Tables& tables);

  bool is_masking() const { return masking_; }
  std::uint64_t legal() const { return legal_; }  // (offer, protection) pairs
  UnitKernel& kernel();

  // Work from which on they are dominated on steps with T(c) >= T(1) (1 + stack_share (c - 1)); the share is
  // rounded down to a sixteenth. The first bound needs no tables where failures are masked; elsewhere the two
  // are the same.
  double dominated_work_at_least_overhead(double stack_share, const DominatedTimes& dominated);
  double dominated_work(double stack_share, const DominatedTimes& dominated);

  // Whether it is known which protections make progress, if the work is within these and T(1) is step_s;
  // infinity: T(1) is not known.
  bool progress_is_known(double least_work_s, double most_work_s, double step_s);
  // How many (offer, protection) pairs make none, and how many of those as failures strike too often; only if
  // it is known.
  struct Endless {
    std::uint64_t all = 0;
    std::uint64_t struck = 0;
  };
  Endless endless(double least_work_s, double step_s) const;

 private:
  static constexpr int kBuckets = 16;

  struct Bucket {
    std::vector<double>
        factor;  // by cell and UnitKernel::kLengths: least time over work; empty until asked for
    std::uint64_t version = 0;
    double work_s = 0;
  };
  bool is_used(std::size_t cell) const;
  double failures_per_s(const RateClass& rate) const;
  double most_step_of_mild_failures() const;
  Tables::PartKey key() const;
  void learn_factors(int bucket, std::vector<double>& factors);
  void learn_certainty(double step_s);
  std::vector<Certainty> certainties_without_tables(const MildFailures& mild, int protection,
                                                    double long_step_s) const;

  const BlockSetup& setup_;
  const ProtectionLists& protections_;
  std::uint64_t legal_;
  faults::FailingUnit unit_;
  std::int64_t state_copies_;
  bool masking_;
  Tables& tables_;
  Tables::Kernels::Loan kernel_;
  using Buckets = std::array<Bucket, kBuckets + 1>;
  double dominated_work(Bucket& bucket, const DominatedTimes& dominated);
  std::vector<double> factors_without_tables(double stack_share) const;

  Buckets buckets_;
  Buckets without_tables_;
  double mild_step_s_ = -1;  // up to which failures are mild: all make progress
  std::shared_ptr<const std::vector<Certainty>> certainty_;  // by cell
};

}  // namespace trainfront::search
