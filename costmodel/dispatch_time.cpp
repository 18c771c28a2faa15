#include "costmodel/dispatch_time.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::costmodel {
namespace {

// Shares of the data sheet's rates in DeepEP's published tables (README, normal kernels, H800), and its
// start-up.
constexpr double kNetworkShare = 0.89;
constexpr double kLinkShare = 0.78;
constexpr double kStartup_s = 40e-6;

// Of `places`, how many hold one of `copies` experts drawn at random, less the sender's own.
double others_visited(double places, double copies) {
  return places * (1 - std::pow(1 - 1 / places, copies)) * (1 - 1 / places);
}

}  // namespace

Timed dispatch_time(const Hardware& hardware, double tokens, double token_bytes, int copies,
                    const Placement& placement) {
  if (placement.ranks <= 1) return {};
  const double bytes = tokens * token_bytes;
  const double network_s = placement.domains > 1 ? bytes * others_visited(placement.domains, copies) /
                                                       (kNetworkShare * hardware.network.nic_bytes_per_s)
                                                 : 0;
  const double link_s = placement.per_domain > 1 ? bytes * others_visited(placement.ranks, copies) /
                                                       (kLinkShare * hardware.device.link_bytes_per_s)
                                                 : 0;
  return {kStartup_s + std::max(network_s, link_s), Evidence::kExtrapolated};
}

}  // namespace trainfront::costmodel
