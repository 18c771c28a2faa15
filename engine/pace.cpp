#include "engine/pace.hpp"

#include <algorithm>
#include <numeric>

namespace trainfront::engine {

Pace Course::pace(const search::Counts& counts, double elapsed_s) const {
  Pace pace;
  pace.plans = walked;
  pace.covered = counts.plans;
  pace.excluded = excluded;
  pace.plans_per_s = static_cast<double>(counts.plans - covered_before) / std::max(elapsed_s, 1e-9);
  if (pace.plans > 0) pace.share = static_cast<double>(pace.covered) / static_cast<double>(pace.plans);
  if (pace.covered == pace.plans) {
    pace.to_go_s = 0;
  } else if (pace.plans_per_s > 0) {
    pace.to_go_s = static_cast<double>(pace.plans - pace.covered) / pace.plans_per_s;
  }
  return pace;
}

std::uint64_t pruned(const search::Counts& counts) {
  return std::accumulate(counts.pruned.begin(), counts.pruned.end(), std::uint64_t{0});
}

}  // namespace trainfront::engine
