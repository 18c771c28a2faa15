#include "costmodel/collective_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "costmodel/link_passes.hpp"
#include "costmodel/network_collective.hpp"

namespace trainfront::costmodel {
namespace {

double domain_form(const Device& device, Collective collective, double bytes, double ranks) {
  const LinkFit& fit = device.profile.link[static_cast<std::size_t>(collective)];
  const double line_s = bytes * link_passes(collective, ranks) / device.link_bytes_per_s;
  double seconds =
      fit.base_s + fit.per_rank_s * (ranks - 1) + line_s / fit.link_share + fit.root_s * std::sqrt(line_s);
  if (fit.copy_share > 0) seconds += bytes / (ranks * fit.copy_share * device.link_bytes_per_s);

  const SwitchReduceFit& in_switch = device.profile.switch_reduce;
  if (collective != Collective::kAllReduce || in_switch.min_ranks == 0 || ranks < in_switch.min_ranks) {
    return seconds;
  }
  const double vector_s = bytes / device.link_bytes_per_s;
  return std::min(seconds, in_switch.base_s + vector_s * (1 + 1 / ranks) / in_switch.link_share +
                               in_switch.root_s * std::sqrt(vector_s));
}

Timed domain_time(const Device& device, Collective collective, double bytes, double ranks) {
  const LinkFit& fit = device.profile.link[static_cast<std::size_t>(collective)];
  if (fit.table.empty()) return {domain_form(device, collective, bytes, ranks), fit.evidence};
  // Larger messages go on at the rate of the table's last octave, more ranks as the form has it.
  const double last = fit.table.most(1);
  double seconds = fit.table.at(ranks, bytes);
  if (bytes > last) seconds += (bytes / last - 1) * 2 * (seconds - fit.table.at(ranks, last / 2));
  if (fit.table.covers(ranks, bytes)) {
    const std::vector<double>& nodes = fit.table.axes[0];
    const bool measured = std::find(nodes.begin(), nodes.end(), std::log2(ranks)) != nodes.end();
    return {seconds, measured ? fit.evidence : worst(fit.evidence, Evidence::kInterpolated)};
  }
  if (ranks > fit.table.most(0)) seconds = std::max(seconds, domain_form(device, collective, bytes, ranks));
  return {seconds, worst(fit.evidence, Evidence::kExtrapolated)};
}

}  // namespace

Timed collective_time(const Hardware& hardware, Collective collective, double bytes,
                      const Placement& placement) {
  const Device& device = hardware.device;
  const Evidence evidence = device.profile.link[static_cast<std::size_t>(collective)].evidence;
  if (placement.ranks <= 1 || bytes <= 0) return {0, evidence};
  if (placement.domains > 1) return network_collective_time(hardware, collective, bytes, placement);
  return domain_time(device, collective, bytes, placement.ranks);
}

}  // namespace trainfront::costmodel
