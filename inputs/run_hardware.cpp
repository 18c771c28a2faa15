#include "inputs/run_hardware.hpp"

#include <algorithm>

#include "inputs/run_spelling.hpp"

namespace trainfront::inputs {

namespace {

// One 400 Gb/s card a GPU, where neither the table nor the catalogue says anything.
constexpr double kCommonNic = 50e9;

const NodeType* reference_node(const Catalog& catalog, std::string_view device, bool on_aws) {
  const auto matches = [&](const NodeType& node) {
    return node.device == device && node.provider == (on_aws ? "aws" : "");
  };
  const auto node = std::find_if(catalog.nodes.begin(), catalog.nodes.end(), matches);
  return node != catalog.nodes.end() ? &*node : nullptr;
}

}  // namespace

const DeviceEntry* find_run_device(const Catalog& catalog, std::string_view gpu) {
  gpu = gpu.substr(0, gpu.find('('));
  while (!gpu.empty()) {
    while (!gpu.empty() && gpu.back() == ' ') gpu.remove_suffix(1);
    if (const DeviceEntry* entry = catalog.resolve_device(gpu)) return entry;
    const std::size_t cut = gpu.find_last_of("- ");
    if (cut == std::string_view::npos) return nullptr;
    gpu = gpu.substr(0, cut);
  }
  return nullptr;
}

costmodel::Network run_network(const Catalog& catalog, const DeviceEntry& device,
                               std::string_view interconnect, int gpus_per_node) {
  const Interconnect stated = read_interconnect(interconnect, gpus_per_node);
  const bool on_aws = stated.kind == "efa";
  const NodeType* node = reference_node(catalog, device.device.id, on_aws);
  if (node == nullptr) node = reference_node(catalog, device.device.id, false);
  costmodel::Network network;
  network.kind = "infiniband";
  network.nic_bytes_per_s = kCommonNic;
  if (node != nullptr) network = node->network;
  if (!stated.kind.empty() && !on_aws) {
    if (const NetworkEntry* kind = catalog.find_network(stated.kind)) {
      const double rate = network.nic_bytes_per_s;
      network = kind->network;
      network.nic_bytes_per_s = rate;
    }
  }
  if (stated.nic_bytes_per_s > 0) network.nic_bytes_per_s = stated.nic_bytes_per_s;
  return network;
}

costmodel::Network slow_network(const Catalog& catalog, double gbit_per_s, std::string_view interconnect,
                                int gpus_per_node) {
  costmodel::Network network;
  if (const NetworkEntry* kind = catalog.find_network("tcp")) network = kind->network;
  network.nic_bytes_per_s = gbit_per_s * 1e9 / 8 / gpus_per_node;
  network.delay_s = read_delay_s(interconnect);
  return network;
}

}  // namespace trainfront::inputs
