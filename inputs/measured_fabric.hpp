#pragma once

#include <string_view>

#include "costmodel/collective_time.hpp"

namespace trainfront::inputs {

// What a measurement's description of its fabric says, as in "NVLink4 + IB NDR 8x400Gb/s per node".
struct MeasuredFabric {
  double nic_bytes_per_s = 0;  // per GPU, one way; 0: not stated
  bool pairwise = false;       // bridges between pairs: not the device's own scale-up fabric
  costmodel::Placement placement;
};

// Ranks on nodes, in scale-up domains: a node each, or a rack of 72 where the fabric says NVL72.
MeasuredFabric read_fabric(std::string_view fabric, int ranks, int nodes);

}  // namespace trainfront::inputs
