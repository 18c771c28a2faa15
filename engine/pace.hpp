#pragma once

#include <cstdint>
#include <optional>

#include "search/walk.hpp"

namespace trainfront::engine {

// How far a sweep is and how fast this run goes.
struct Pace {
  std::uint64_t plans = 0;     // of the sweep that have an index
  std::uint64_t covered = 0;   // of them, by all runs
  std::uint64_t excluded = 0;  // plans without an index: known to be illegal before it began, and no work
  double share = 1;
  double plans_per_s = 0;         // covered by this run
  std::optional<double> to_go_s;  // at that rate; none before anything is known
};

// The ends of a sweep's work: what there is to cover, and what was before this run began.
struct Course {
  std::uint64_t walked = 0;          // plans with an index
  std::uint64_t excluded = 0;        // plans beside them
  std::uint64_t covered_before = 0;  // plans with an index that former runs did

  Pace pace(const search::Counts& counts, double elapsed_s) const;
};

// Plans that some bound excluded.
std::uint64_t pruned(const search::Counts& counts);

}  // namespace trainfront::engine
