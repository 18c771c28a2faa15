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

// Of `places`, how many hold one of `copies` experts drawn at random.
double visited(double places, double copies) {
  return places * (1 - std::pow(1 - 1 / places, copies));
}

// Of all visits those that leave the sender's own place.
double of_others(double places, double all) {
  return all * (1 - 1 / places);
}

}  // namespace

// A chosen group has copies/groups_per_token of the experts, one at least: it was chosen for its best two
// (arXiv 2412.19437, section 2.1.2).
double places_visited(double places, const Dispatch& dispatch) {
  const double groups = dispatch.groups, chosen = dispatch.groups_per_token;
  if (groups <= 0 || chosen <= 0) return visited(places, dispatch.copies);
  if (places >= groups) return chosen * visited(places / groups, std::max(1.0, dispatch.copies / chosen));
  // A place holds several groups and is visited unless none of them is chosen.
  double missed = 1;
  const auto groups_of_a_place = static_cast<int>(std::ceil(groups / places));
  for (int i = 0; i < groups_of_a_place; ++i) missed *= std::max(0.0, 1 - chosen / (groups - i));
  return places * (1 - missed);
}

Timed dispatch_time(const Hardware& hardware, const Dispatch& dispatch, const Placement& placement) {
  if (placement.ranks <= 1) return {};
  const double bytes = dispatch.tokens * dispatch.token_bytes;
  const auto wire_s = [&](double places, double rate) {
    return bytes * of_others(places, places_visited(places, dispatch)) / rate;
  };
  const double network_s =
      placement.domains > 1 ? wire_s(placement.domains, kNetworkShare * hardware.network.nic_bytes_per_s) : 0;
  const double link_s =
      placement.per_domain > 1 ? wire_s(placement.ranks, kLinkShare * hardware.device.link_bytes_per_s) : 0;
  return {kStartup_s + std::max(network_s, link_s), Evidence::kExtrapolated};
}

}  // namespace trainfront::costmodel
