#pragma once

#include <string_view>

#include "costmodel/hardware.hpp"
#include "inputs/catalog.hpp"

namespace trainfront::inputs {

// The catalogue's device for a GPU as run tables spell it: "H100-80GB-SXM", "V100-16GB-SXM2 (AWS
// p3.2xlarge)". Words at the end that the catalogue does not know are left off one by one. Null if nothing is
// left.
const DeviceEntry* find_run_device(const Catalog& catalog, std::string_view gpu);

// The network of a run: what the table says, and for the rest the reference node that vendors build with the
// device (the catalogue's node of no provider), or the provider's own where the text names it.
costmodel::Network run_network(const Catalog& catalog, const DeviceEntry& device,
                               std::string_view interconnect, int gpus_per_node);

// Ethernet of so many Gb/s a node, with the one-way delay that the interconnect's words state ("delay 50
// ms").
costmodel::Network slow_network(const Catalog& catalog, double gbit_per_s, std::string_view interconnect,
                                int gpus_per_node);

}  // namespace trainfront::inputs
