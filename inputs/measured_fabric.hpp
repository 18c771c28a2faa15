#pragma once

#include <string_view>

#include "costmodel/collective_time.hpp"

namespace trainfront::inputs {

// What a measurement's description of its fabric says, as in "NVLink4 + IB NDR 8x400Gb/s per node".
struct MeasuredFabric {
  double nic_bytes_per_s = 0;     // per GPU, one way; 0: not stated
  double domain_bytes_per_s = 0;  // of all cards of a domain
  bool pairwise = false;          // bridges between pairs: not the device's own scale-up fabric
  costmodel::Placement placement;
};

// Ranks on nodes, in scale-up domains: a node each, or a rack of 72 where the fabric says NVL72.
MeasuredFabric read_fabric(std::string_view fabric, int ranks, int nodes);

// The catalogue's kind of network that a description names, by itself ("roce-v2") or by words that are used
// for it ("IB", "EFA 32x100Gb/s"); empty: not known.
std::string_view network_kind_of_fabric(std::string_view fabric);

}  // namespace trainfront::inputs
