#include <cstddef>

#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {

Timed memory_bound_time(const Device& device, MemoryBound kind, double bytes) {
  const MemoryBoundFit& fit = device.profile.memory_bound[static_cast<std::size_t>(kind)];
  if (bytes <= 0) return {0, fit.evidence};
  return {fit.launch_s + bytes / fit.bytes_per_s, fit.evidence};
}

}  // namespace trainfront::costmodel
