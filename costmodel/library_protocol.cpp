#include "costmodel/library_protocol.hpp"

#include <algorithm>
#include <cstddef>

#include "costmodel/nccl_latencies.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kInSwitch_s = 25e-6;

// The least NVLink of these families, V100's, is 150 GB/s one way; the fastest PCIe is 128.
constexpr double kLeastNvLink = 140e9;

// The channels that NCCL lays over NVLink carry so much of its rate: 240 of A100's 300 GB/s, 360 of H100's
// 450.
constexpr double kChannelShare = 0.8;
constexpr double kLowLatencyShare = 0.5, kLowLatency128Share = 0.92;  // of the channels, data beside flags
// Sixteen channels of 20 of the switch's 450 GB/s on Hopper, of which its model takes five sixths as the rate
// of the vector itself (2.19 to 2.27; 2.28 makes it depend on channels and ranks).
constexpr double kSwitchShare = 16 * 20 / 450.0 * 5 / 6;

// What the low-latency protocol reaches at most within a node (llMaxBws), in bytes/s, however many links a
// part has; 0: not known.
double most_low_latency(DeviceFamily family) {
  switch (family) {
    case DeviceFamily::kVolta:
      return 39e9;
    case DeviceFamily::kAmpere:
      return 87.7e9;
    case DeviceFamily::kHopper:
      return 141e9;
    case DeviceFamily::kBlackwell:
      return 282e9;
    default:
      return 0;
  }
}

}  // namespace

LibraryFabric library_fabric(const Device& device) {
  return {.family = family_of(device),
          .link_bytes_per_s = device.link_bytes_per_s,
          .switch_ranks = device.profile.switch_reduce.min_ranks};
}

bool library_chooses(const LibraryFabric& fabric, Collective collective) {
  const bool is_known = most_low_latency(fabric.family) > 0 && fabric.link_bytes_per_s >= kLeastNvLink;
  return is_known && (collective == Collective::kAllReduce || collective == Collective::kAllGather ||
                      collective == Collective::kReduceScatter);
}

double ring_rounds(Collective collective) {
  return collective == Collective::kAllReduce ? 2 : 1;
}

RegimeConstants library_constants(const LibraryFabric& fabric, Collective collective,
                                  LibraryProtocol protocol) {
  if (protocol == LibraryProtocol::kInSwitch) {
    // Every byte once, whatever the ranks: 1 = passes / 2 + 1 / ranks.
    return {kInSwitch_s, 0, 1 / (2 * kSwitchShare), 1 / kSwitchShare, 0};
  }
  double share = kChannelShare;
  if (protocol == LibraryProtocol::kLowLatency)
    share = std::min(kLowLatencyShare * share, most_low_latency(fabric.family) / fabric.link_bytes_per_s);
  if (protocol == LibraryProtocol::kLowLatency128) share *= kLowLatency128Share;
  const NcclLatencies& latencies = kNcclLatencies[static_cast<std::size_t>(protocol)];
  return {latencies.base_s, ring_rounds(collective) * latencies.ring_link_s, 1 / share, 0, 0};
}

LibraryProtocol library_protocol(const LibraryFabric& fabric, Collective collective, double bytes,
                                 double ranks) {
  const bool has_switch =
      collective == Collective::kAllReduce && fabric.switch_ranks > 0 && ranks >= fabric.switch_ranks;
  const RegimeConstants terms = regime_terms(collective, fabric.link_bytes_per_s, bytes, ranks);
  const auto expected = [&](LibraryProtocol protocol) {
    return regime_seconds(library_constants(fabric, collective, protocol), terms);
  };
  LibraryProtocol best = LibraryProtocol::kLowLatency;
  double least = expected(best);
  for (const LibraryProtocol protocol :
       {LibraryProtocol::kLowLatency128, LibraryProtocol::kSimple, LibraryProtocol::kInSwitch}) {
    if (protocol == LibraryProtocol::kInSwitch && !has_switch) continue;
    const double seconds = expected(protocol);
    if (seconds < least) {
      least = seconds;
      best = protocol;
    }
  }
  return best;
}

}  // namespace trainfront::costmodel
