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

// Within the table's ranks. Larger messages go on at the rate of its last octave.
double table_time(const MonotoneTable& table, double bytes, double ranks) {
  const double last = table.most(1), seconds = table.at(ranks, bytes);
  if (bytes <= last) return seconds;
  return seconds + (bytes / last - 1) * 2 * (seconds - table.at(ranks, last / 2));
}

// Beyond the table's ranks: what it says of the message that takes its outermost number of ranks as long by
// the form, so that time rises with bytes as both do. Messages shorter than all of those by the form's ratio.
double outside_time(const Device& device, Collective collective, double bytes, double ranks) {
  const MonotoneTable& table = device.profile.link[static_cast<std::size_t>(collective)].table;
  const double edge = table.clamped(0, ranks), least = table.least(1);
  const double form_s = domain_form(device, collective, bytes, ranks);
  const double least_s = domain_form(device, collective, least, edge);
  if (form_s <= least_s) return table_time(table, least, edge) * (form_s / least_s);
  double below = least, above = 2 * least;
  while (domain_form(device, collective, above, edge) < form_s) above *= 2;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (below + above) / 2;
    (domain_form(device, collective, middle, edge) < form_s ? below : above) = middle;
  }
  return table_time(table, above, edge);
}

Timed domain_time(const Device& device, Collective collective, double bytes, double ranks) {
  const LinkFit& fit = device.profile.link[static_cast<std::size_t>(collective)];
  const MonotoneTable& table = fit.table;
  if (table.empty()) return {domain_form(device, collective, bytes, ranks), fit.evidence};
  const double seconds = table.within(0, ranks) ? table_time(table, bytes, ranks)
                                                : outside_time(device, collective, bytes, ranks);
  if (!table.covers(ranks, bytes)) return {seconds, worst(fit.evidence, Evidence::kExtrapolated)};
  const std::vector<double>& nodes = table.axes[0];
  const bool measured = std::find(nodes.begin(), nodes.end(), std::log2(ranks)) != nodes.end();
  return {seconds, measured ? fit.evidence : worst(fit.evidence, Evidence::kInterpolated)};
}

}  // namespace

Device with_faster_link(const Device& device, double factor) {
  Device faster = device;
  faster.link_bytes_per_s *= factor;
  for (std::size_t i = 0; i < faster.profile.link.size(); ++i) {
    MonotoneTable& table = faster.profile.link[i].table;
    const auto collective = static_cast<Collective>(i);
    for (std::size_t node = 0; node < table.log_values.size(); ++node) {
      const double ranks = std::exp2(table.axes[0][node / table.axes[1].size()]);
      const double bytes = std::exp2(table.axes[1][node % table.axes[1].size()]);
      table.log_values[node] += std::log(domain_form(faster, collective, bytes, ranks) /
                                         domain_form(device, collective, bytes, ranks));
    }
  }
  return faster;
}

Timed collective_time(const Hardware& hardware, Collective collective, double bytes,
                      const Placement& placement) {
  const Device& device = hardware.device;
  const Evidence evidence = device.profile.link[static_cast<std::size_t>(collective)].evidence;
  if (placement.ranks <= 1 || bytes <= 0) return {0, evidence};
  if (placement.domains > 1) return network_collective_time(hardware, collective, bytes, placement);
  return domain_time(device, collective, bytes, placement.ranks);
}

}  // namespace trainfront::costmodel
