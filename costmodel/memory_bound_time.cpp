#include <algorithm>
#include <cstddef>

#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {

Timed memory_bound_time(const Device& device, MemoryBound kind, double bytes) {
  const MemoryBoundFit& fit = device.profile.memory_bound[static_cast<std::size_t>(kind)];
  if (bytes <= 0) return {0, fit.evidence};
  if (fit.table.empty()) return {fit.launch_s + bytes / fit.bytes_per_s, fit.evidence};
  const double beyond = std::max(0.0, bytes - fit.table.most(0));
  return {fit.table.at(bytes) + beyond / fit.bytes_per_s,
          fit.table.covers(bytes) ? fit.evidence : worst(fit.evidence, Evidence::kExtrapolated)};
}

}  // namespace trainfront::costmodel
