#pragma once

#include <string_view>

#include "costmodel/collective_time.hpp"

namespace trainfront::inputs {

// What a measurement's description of its fabric says, as in "NVLink4 + IB NDR 8x400Gb/s per node".
struct MeasuredFabric {
  double nic_bytes_per_s = 0;     // per GPU, one way; 0: not stated
  double domain_bytes_per_s = 0;  // of all cards of a domain
  bool pairwise = false;          // bridges between pairs: not the device's own scale-up fabric
  // The device comes in racks, which the description leaves open: several nodes were taken for one domain, or
  // for one each.
  bool taken_for_a_rack = false, taken_for_nodes = false;
  costmodel::Placement placement;
};

// Ranks on nodes, in scale-up domains: a node each, or a rack of 72 where the fabric says NVL72.
// `domain_gpus` is the device's own: where no server holds as many, they are a rack, which ranks on several
// nodes share if they can and no network is stated.
MeasuredFabric read_fabric(std::string_view fabric, int ranks, int nodes, int domain_gpus = 0);

// GPUs of a node that the description states; 8 if it does not.
int node_gpus_of_fabric(std::string_view fabric);

// The catalogue's kind of network that a description names, by itself ("roce-v2") or by words that are used
// for it ("IB", "EFA 32x100Gb/s"); empty: not known.
std::string_view network_kind_of_fabric(std::string_view fabric);

}  // namespace trainfront::inputs
