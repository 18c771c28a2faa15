#include "costmodel/network_collective.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "costmodel/nccl_latencies.hpp"
#include "costmodel/norm_sum.hpp"

namespace trainfront::costmodel {
namespace {

// One of NCCL's wire protocols: NCCL's own latencies, and what they were multiplied by to meet all_reduce
// logs of 16 and 32 H100 on InfiniBand NDR (NVIDIA/nccl-tests#309), fitted 2026-11-29.
struct Protocol : NcclLatencies {
  double tree_hop_scale;  // fitted
  double rate_share;      // fitted: of the line rate
  bool low_latency;       // its hops are scaled by Group's low_latency scales
};
constexpr std::array<Protocol, 3> kProtocols{{
    {kNcclLatencies[0], 1, 0.043, true},     // LL
    {kNcclLatencies[1], 1.66, 0.42, false},  // LL128
    {kNcclLatencies[2], 2.49, 1, false},     // Simple
}};
constexpr double kRingNorm = 1.26;  // latency and bandwidth of a ring overlap this much; fitted on the same
constexpr double kRingLinkShare = 0.82;  // of the scale-up link that a ring across domains reaches at most
constexpr double kSwitchTreeShare =
    0.627;  // of the link: all_reduce in the switch, then a tree between domains
constexpr double kPlainTreeShare = 0.64;  // the same without reduction in the switch
// Domains of a node each are seen to reduce in their switches and then between them; two racks of NVL72 take
// a ring instead (0.75 to 0.82 of the link: OCI's logs of 2 racks of GB200 and GB300).
constexpr double kSwitchTreeMembers = 8;

// LL's hops within a domain follow what small all_reduces take there, a call apart, against Hopper's, which
// NCCL's constants are of: 8 ranks in H100's fitted form (aiconfigurator's nccl tables, 2026-11-29).
constexpr double kHopperSmall_s = 15.5e-6;

struct LinkHops {
  double scale;
  bool is_known;  // false: the whole all_reduce takes no more than a call, and hops are taken to take nothing
};

LinkHops low_latency_link_hops(const LinkFit& all_reduce) {
  constexpr double kCall_s = kNcclLatencies[0].base_s;
  const double hops_s = all_reduce.base_s + 7 * all_reduce.per_rank_s - kCall_s;
  return {std::max(0.0, hops_s) / (kHopperSmall_s - kCall_s), hops_s > 0};
}

// A network that starts messages later than InfiniBand NDR delays LL's by so much more: fitted on the
// messages below 64 KiB of nccl-tests on EFA v1, EFA v2 and RoCE (docs/calibrating.md), 2026-11-30.
constexpr double kSmallStart = 1.55;

struct Group {
  double ranks, domains, per_domain;
  double rate;      // bytes/s of one domain's members into the network
  double nic_rate;  // line rate of one member
  double latency_scale;
  double low_latency_scale;       // the same of LL
  double low_latency_link_scale;  // of LL's hops within a domain
  double delay_s;                 // of every message between domains, on top
  bool rdma;
};

struct HopScales {
  double link = 1, network = 1;
};

HopScales hop_scales(const Protocol& protocol, const Group& group) {
  if (protocol.low_latency) return {group.low_latency_link_scale, group.low_latency_scale};
  return {1, group.latency_scale};
}

double tree_all_reduce(const Device& device, double bytes, const Group& group) {
  const double passes = 2 * (group.ranks - 1) / group.ranks;
  const bool in_switch = device.profile.switch_reduce.min_ranks > 0 && group.per_domain <= kSwitchTreeMembers;
  const double link_rate =
      in_switch ? kSwitchTreeShare * device.link_bytes_per_s * passes / (1 + 1 / group.per_domain)
                : kPlainTreeShare * device.link_bytes_per_s;
  // Between two domains each sends the vector once; deeper trees send it up and down.
  const double network_rate = group.domains == 2 ? passes * group.rate : group.rate;
  const double rate = group.per_domain > 1 ? std::min(network_rate, link_rate) : network_rate;
  const double levels = std::bit_width(static_cast<unsigned>(group.domains) - 1);  // ceil(log2 domains)
  double best = INFINITY;
  for (const Protocol& protocol : kProtocols) {
    const HopScales scales = hop_scales(protocol, group);
    const double hops_s = (group.per_domain - 1) * scales.link * protocol.tree_link_s +
                          levels * scales.network * protocol.tree_network_s;
    best = std::min(best, protocol.base_s + 2 * protocol.tree_hop_scale * hops_s +
                              2 * levels * group.delay_s + bytes * passes / (rate * protocol.rate_share));
  }
  return best;
}

double ring(const Device& device, Collective collective, double bytes, const Group& group) {
  const double rounds = collective == Collective::kAllReduce ? 2 : 1;
  const double passes = rounds * (group.ranks - 1) / group.ranks;
  const double rate =
      group.per_domain > 1 ? std::min(group.rate, kRingLinkShare * device.link_bytes_per_s) : group.rate;
  double best = INFINITY;
  for (const Protocol& protocol : kProtocols) {
    const HopScales scales = hop_scales(protocol, group);
    const double latency_s =
        protocol.base_s +
        rounds * ((group.ranks - group.domains) * scales.link * protocol.ring_link_s +
                  group.domains * (scales.network * protocol.ring_network_s + group.delay_s));
    const double wire_s = bytes * passes / (rate * protocol.rate_share);
    // The sum is never below its parts: most protocols need no powers.
    if (std::max(latency_s, wire_s) < best) best = std::min(best, norm_sum(latency_s, wire_s, kRingNorm));
  }
  return best;
}

// Of LL's messages; networks faster than InfiniBand NDR start them as all others.
double small_start(double latency_scale) {
  return latency_scale + (kSmallStart - 1) * std::max(0.0, latency_scale - 1);
}

// Every rank sends a part to every other; parts for the own domain take the scale-up link meanwhile.
double all_to_all(const Device& device, double bytes, const Group& group) {
  // Of the line rate, by domains: EFA at 2 nodes 0.91, 1 GPU a node 0.66 to 0.79; 16 nodes of H20 0.4
  // (nccl#1792).
  const double share = group.domains <= 8 ? 0.9 : 0.6;
  constexpr double kStart_s = 50e-6;
  const LinkFit& fit = device.profile.link[static_cast<std::size_t>(Collective::kAllToAll)];
  const double part = bytes / group.ranks;
  const double link_s = part * (group.per_domain - 1) / (fit.link_share * device.link_bytes_per_s);
  const double network_s = part * (group.ranks - group.per_domain) / (share * group.nic_rate);
  return kStart_s * group.latency_scale + group.delay_s + fit.base_s + fit.per_rank_s * (group.ranks - 1) +
         std::max(link_s, network_s);
}

// Of a node's line rate, what NCCL gets through the kernel's TCP against what it gets of 10 Gb/s: 1.7 GB/s of
// 25 Gb/s (NVIDIA/nccl-tests#83), 60 % of 32 Gb/s (NVIDIA/nccl#209), 4 to 6 GB/s of 100 Gb/s (#450).
double kernel_share(double node_bytes_per_s) {
  constexpr double kWhole = 10e9 / 8, kExponent = 0.4;
  return node_bytes_per_s <= kWhole ? 1 : std::pow(kWhole / node_bytes_per_s, kExponent);
}

// H100 to H100 on InfiniBand NDR: 19 us and 73 % of the line rate (vidur, h100_dgx send_recv over 2 nodes).
// TCP between V100 at 1 to 10 Gb/s: 94 % (DT-FM's shaped networks).
double send_recv(double bytes, const Group& group) {
  constexpr double kStart_s = 19e-6, kRdmaShare = 0.73, kTcpShare = 0.94;
  const double share = group.rdma ? kRdmaShare : kTcpShare;
  return kStart_s * group.latency_scale + group.delay_s + bytes / (share * group.nic_rate);
}

// All_reduce logs reach 16 nodes (and one 128), the others 2; all-to-all has thin data altogether.
Evidence network_evidence(Collective collective, int domains) {
  const int measured = collective == Collective::kAllReduce  ? 16
                       : collective == Collective::kAllToAll ? 1
                                                             : 2;
  return domains <= measured ? Evidence::kInterpolated : Evidence::kExtrapolated;
}

}  // namespace

// Idle NICs of other GPUs are not borrowed: k members of a domain put k NICs' rate into the network.
Timed network_collective_time(const Hardware& hardware, Collective collective, double bytes,
                              const Placement& placement) {
  const Network& network = hardware.network;
  const NetworkFit& measured = hardware.device.profile.network;
  const bool is_measured = measured.latency_scale > 0 && measured.kind == network.kind;
  // What the kernel's TCP leaves of the line, sends and receives meet as well. Where it was measured, the
  // ring's efficiency holds it.
  const double kernel = network.rdma  ? 1
                        : is_measured ? std::min(1.0, measured.efficiency / network.efficiency)
                                      : kernel_share(network.nic_bytes_per_s * hardware.gpus_per_node);
  const double efficiency = is_measured ? measured.efficiency / kernel : network.efficiency;
  const double nic_rate = network.nic_bytes_per_s * kernel;
  const double latency_scale = is_measured ? measured.latency_scale : network.latency_scale;
  const LinkHops link_hops =
      low_latency_link_hops(hardware.device.profile.link[static_cast<std::size_t>(Collective::kAllReduce)]);
  const Group group{.ranks = static_cast<double>(placement.ranks),
                    .domains = static_cast<double>(placement.domains),
                    .per_domain = static_cast<double>(placement.per_domain),
                    .rate = placement.per_domain * nic_rate * efficiency,
                    .nic_rate = nic_rate,
                    .latency_scale = latency_scale,
                    .low_latency_scale = network.rdma ? small_start(latency_scale) : latency_scale,
                    .low_latency_link_scale = link_hops.scale,
                    .delay_s = network.delay_s,
                    .rdma = network.rdma};
  const bool is_measured_itself = is_measured && placement.domains <= measured.most_domains &&
                                  measured.of_collective[static_cast<std::size_t>(collective)];
  const bool hops_count =
      placement.per_domain > 1 && collective != Collective::kAllToAll && collective != Collective::kSendRecv;
  const Evidence of_network = hops_count && !link_hops.is_known ? Evidence::kExtrapolated
                              : is_measured_itself              ? Evidence::kCalibrated
                                                   : network_evidence(collective, placement.domains);
  const Evidence evidence =
      worst(hardware.device.profile.link[static_cast<std::size_t>(collective)].evidence, of_network);
  switch (collective) {
    case Collective::kAllReduce:
      return {std::min(ring(hardware.device, collective, bytes, group),
                       tree_all_reduce(hardware.device, bytes, group)),
              evidence};
    case Collective::kAllToAll:
      return {all_to_all(hardware.device, bytes, group), evidence};
    case Collective::kSendRecv:
      return {send_recv(bytes, group), evidence};
    default:
      return {ring(hardware.device, collective, bytes, group), evidence};
  }
}

}  // namespace trainfront::costmodel
