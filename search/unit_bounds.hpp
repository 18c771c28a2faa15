#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "search/block_setup.hpp"
#include "search/unit_kernel.hpp"

namespace trainfront::search {

// From how much work on, steps times T(1), no plan of a unit can be on the front (docs/search.md has the
// proofs).
class UnitBounds {
 public:
  static constexpr int kBuckets = 16;

  // `stack_share`: T(c) >= T(1) (1 + stack_share (c - 1)). It is rounded down to a sixteenth.
  // `dominated_from`: for each cell the time from which on its plans are strictly dominated; `version`
  // changes when one of them does. Uses up the kernel's step.
  double dominated_work(double stack_share, const std::vector<double>& dominated_from, std::uint64_t version,
                        const BlockSetup& setup, UnitKernel& kernel);

 private:
  struct Bucket {
    std::vector<double> factor;  // by cell: least time over work; empty until asked for
    std::uint64_t version = 0;
    double work_s = 0;
  };
  std::array<Bucket, kBuckets + 1> buckets_;
};

}  // namespace trainfront::search
