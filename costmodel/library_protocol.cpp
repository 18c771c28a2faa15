#include "costmodel/library_protocol.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace trainfront::costmodel {
namespace {

// A ring's, of a call and of each step (NCCL, src/graph/tuning.cc, baseLat and hwLat).
struct RingProtocol {
  double base_s, step_s;
};
constexpr std::array<RingProtocol, 3> kRings{{{6.6e-6, 0.6e-6}, {14e-6, 1.9e-6}, {8.4e-6, 3.4e-6}}};
constexpr double kInSwitch_s = 25e-6;

// The channels that NCCL lays over NVLink carry so much of its rate: 240 of A100's 300 GB/s, 360 of H100's
// 450.
constexpr double kChannelShare = 0.8;
constexpr double kLowLatencyShare = 0.5, kLowLatency128Share = 0.92;  // of the channels, data beside flags
// Sixteen channels of 20 of the switch's 450 GB/s on Hopper; it sends five sixths of them to the ranks.
constexpr double kSwitchShare = 16 * 20 / 450.0 * 5 / 6;

// What the low-latency protocol reaches at most in a node (llMaxBws), by the rate of that generation's
// NVLink.
struct LowLatencyCap {
  double link_bytes_per_s, bytes_per_s;
};
constexpr std::array<LowLatencyCap, 4> kCaps{
    {{150e9, 39e9}, {300e9, 87.7e9}, {450e9, 141e9}, {900e9, 282e9}}};

double low_latency_share(double link_bytes_per_s) {
  const auto distance = [&](const LowLatencyCap& cap) {
    return std::abs(std::log(cap.link_bytes_per_s / link_bytes_per_s));
  };
  const auto nearest = std::min_element(
      kCaps.begin(), kCaps.end(),
      [&](const LowLatencyCap& a, const LowLatencyCap& b) { return distance(a) < distance(b); });
  return nearest->bytes_per_s / nearest->link_bytes_per_s;
}

}  // namespace

bool library_chooses(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kAllGather ||
         collective == Collective::kReduceScatter;
}

RegimeConstants library_constants(const Device& device, Collective collective, LibraryProtocol protocol) {
  if (protocol == LibraryProtocol::kInSwitch) {
    // Every byte once, whatever the ranks: 1 = passes / 2 + 1 / ranks.
    return {kInSwitch_s, 0, 1 / (2 * kSwitchShare), 1 / kSwitchShare, 0};
  }
  double share = kChannelShare;
  if (protocol == LibraryProtocol::kLowLatency)
    share = std::min(kLowLatencyShare * share, low_latency_share(device.link_bytes_per_s));
  if (protocol == LibraryProtocol::kLowLatency128) share *= kLowLatency128Share;
  const RingProtocol& ring = kRings[static_cast<std::size_t>(protocol)];
  const double rounds = collective == Collective::kAllReduce ? 2 : 1;
  return {ring.base_s, rounds * ring.step_s, 1 / share, 0, 0};
}

LibraryProtocol library_protocol(const Device& device, Collective collective, double bytes, double ranks) {
  const int in_switch = device.profile.switch_reduce.min_ranks;
  const bool has_switch = collective == Collective::kAllReduce && in_switch > 0 && ranks >= in_switch;
  const RegimeConstants terms = regime_terms(collective, device.link_bytes_per_s, bytes, ranks);
  const auto expected = [&](LibraryProtocol protocol) {
    return regime_seconds(library_constants(device, collective, protocol), terms);
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
