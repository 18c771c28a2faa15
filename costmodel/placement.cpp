#include <algorithm>
#include <numeric>

#include "costmodel/collective_time.hpp"

namespace trainfront::costmodel {

// Groups of one dimension start at every multiple of stride * size plus an offset below the stride. Seen from
// a domain these starts are the residues r (mod G) with r mod gcd(stride * size, G) < stride.
Placement place_group(int stride, int size, int domain_gpus) {
  if (size <= 1) return {1, 1, 1};
  if (stride >= domain_gpus) return {size, size, 1};
  const std::int64_t s = stride, g = size, domain = domain_gpus;
  const std::int64_t span = s * g;
  if (domain % span == 0) return {size, 1, size};
  if (domain % s == 0 && span % domain == 0)
    return {size, static_cast<int>(span / domain), domain_gpus / stride};

  const std::int64_t period = std::gcd(span, domain);
  std::int64_t domains = 1, least = g;
  for (std::int64_t first = 0; first < domain; ++first) {
    if (first % period >= s) continue;
    const std::int64_t last = first + (g - 1) * s;
    const std::int64_t touched = last / domain + 1;
    domains = std::max(domains, touched);
    if (touched == 1) continue;
    least = std::min({least, (domain - 1 - first) / s + 1, last % domain / s + 1});
    if (touched > 2) least = std::min(least, domain / s);
  }
  return {size, static_cast<int>(domains), static_cast<int>(least)};
}

}  // namespace trainfront::costmodel
