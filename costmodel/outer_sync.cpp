#include "costmodel/outer_sync.hpp"

namespace trainfront::costmodel {

double outer_sync_per_step_s(const Islands& islands, double parameters) {
  if (islands.count <= 1) return 0;
  const double n = islands.count;
  const double bytes = parameters * islands.sync_bits / 8;
  const double round_s = 2 * (n - 1) / n * bytes / islands.wan_bytes_per_s + 2 * (n - 1) * islands.rtt_s / 2;
  return round_s / islands.inner_steps;
}

}  // namespace trainfront::costmodel
