#include "search/unit_bounds.hpp"

#include <cmath>

namespace trainfront::search {
namespace {

// More than all roundings on the way from a step to its time together.
constexpr double kGuard = 1 + 1e-9;

}  // namespace

double UnitBounds::dominated_work(double stack_share, const std::vector<double>& dominated_from,
                                  std::uint64_t version, const BlockSetup& setup, UnitKernel& kernel) {
  const double scaled = std::clamp(stack_share, 0.0, 1.0) * kBuckets;
  const int number = static_cast<int>(scaled);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
  if (bucket.version == version) return bucket.work_s;
  if (bucket.factor.empty()) kernel.least_factors(static_cast<double>(number) / kBuckets, bucket.factor);
  bucket.version = version;
  bucket.work_s = 0;
  for (std::size_t cell = 0; cell < setup.cells.size(); ++cell) {
    if (setup.cells[cell].legal_offers == 0) continue;
    const double time_s = dominated_from[cell];
    if (std::isfinite(bucket.factor[cell]))
      bucket.work_s = std::max(bucket.work_s, time_s / bucket.factor[cell]);
    bucket.work_s = std::max(bucket.work_s, kernel.work_from_scratch(cell / setup.spares.size(),
                                                                     cell % setup.spares.size(), time_s));
  }
  bucket.work_s *= kGuard;
  return bucket.work_s;
}

}  // namespace trainfront::search
