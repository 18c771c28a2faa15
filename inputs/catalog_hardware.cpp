#include <algorithm>
#include <utility>

#include "costmodel/data_sheet_profile.hpp"
#include "inputs/catalog_sections.hpp"

namespace trainfront::inputs {
namespace {

constexpr int kMaxGpus = 65536;

double value_or(Section& section, std::string_view key, double present, bool known) {
  if (!known) section.require(key);
  return section.number(key, kPositive).value_or(present);
}

void read_device(Section& section, Catalog& catalog) {
  section.require("id");
  const auto id = section.text("id");
  if (!id) return section.finish();
  const auto not_modelled = section.text("not_modelled");
  std::vector<DeviceEntry>& kept = not_modelled ? catalog.unmodelled : catalog.devices;
  const auto old = std::find_if(kept.begin(), kept.end(),
                                [&](const DeviceEntry& entry) { return entry.device.id == *id; });
  const bool known = old != kept.end();
  DeviceEntry entry = known ? *old : DeviceEntry{};
  entry.not_modelled = not_modelled.value_or("");
  costmodel::Device& device = entry.device;
  device.id = *id;
  entry.name = section.text("name").value_or(known ? entry.name : *id);
  if (auto also = section.texts("also")) entry.also = *also;
  if (auto text = section.text("architecture")) entry.architecture = *text;
  if (auto text = section.text("link")) entry.link = *text;
  device.bf16_flops_per_s = 1e12 * value_or(section, "bf16_tflops", device.bf16_flops_per_s / 1e12, known);
  if (auto tflops = section.number("fp8_tflops", kPositive)) device.fp8_flops_per_s = 1e12 * *tflops;
  if (!known) section.require("memory");
  device.memory_bytes = section.size_bytes("memory").value_or(device.memory_bytes);
  device.memory_bytes_per_s =
      1e12 * value_or(section, "memory_tb_per_s", device.memory_bytes_per_s / 1e12, known);
  device.link_bytes_per_s = 1e9 * value_or(section, "link_gb_per_s", device.link_bytes_per_s / 1e9, known);
  device.power_w = section.number("power_w", kPositive).value_or(device.power_w);
  if (!known) section.require("domain_gpus");
  if (!known && !not_modelled) section.require("compute_units");
  entry.domain_gpus =
      static_cast<int>(section.integer("domain_gpus", 1, kMaxGpus).value_or(entry.domain_gpus));
  device.compute_units =
      static_cast<int>(section.integer("compute_units", 1, kMaxGpus).value_or(device.compute_units));
  read_origin(section, entry.origin);
  section.finish();
  // With faults, figures may be missing that the profile is scaled from.
  if (!not_modelled && !entry.measured && section.faults().empty())
    device.profile = costmodel::data_sheet_profile(device);
  if (known) {
    *old = std::move(entry);
  } else {
    kept.push_back(std::move(entry));
  }
}

void read_network(Section& section, Catalog& catalog) {
  section.require("kind");
  const auto kind = section.text("kind");
  if (!kind) return section.finish();
  const auto old = std::find_if(catalog.networks.begin(), catalog.networks.end(),
                                [&](const NetworkEntry& entry) { return entry.network.kind == *kind; });
  const bool known = old != catalog.networks.end();
  NetworkEntry entry = known ? *old : NetworkEntry{};
  costmodel::Network& network = entry.network;
  network.kind = *kind;
  entry.name = section.text("name").value_or(known ? entry.name : *kind);
  network.latency_scale = value_or(section, "latency_scale", network.latency_scale, known);
  if (!known) section.require("efficiency");
  network.efficiency = section.number("efficiency", {0, 1, true}).value_or(network.efficiency);
  if (!known) section.require("rdma");
  network.rdma = section.boolean("rdma").value_or(network.rdma);
  read_origin(section, entry.origin);
  section.finish();
  if (!known) {
    catalog.networks.push_back(std::move(entry));
    return;
  }
  *old = entry;
  for (NodeType& node : catalog.nodes) {
    if (node.network.kind != *kind) continue;
    const double rate = node.network.nic_bytes_per_s;
    node.network = entry.network;
    node.network.nic_bytes_per_s = rate;
  }
}

void read_node(Section& section, Catalog& catalog) {
  const std::string provider = section.text("provider").value_or("");
  section.require("instance");
  const auto instance = section.text("instance");
  if (!instance) return section.finish();
  const auto old = std::find_if(catalog.nodes.begin(), catalog.nodes.end(), [&](const NodeType& node) {
    return node.provider == provider && node.instance == *instance;
  });
  const bool known = old != catalog.nodes.end();
  NodeType node = known ? *old : NodeType{};
  node.provider = provider;
  node.instance = *instance;
  for (const char* key : {"device", "gpus", "network", "network_gbps"})
    if (!known) section.require(key);
  const std::vector<std::string> devices = catalog.device_ids();
  if (const auto device = section.choice("device", devices)) node.device = devices[*device];
  node.gpus_per_node = static_cast<int>(section.integer("gpus", 1, kMaxGpus).value_or(node.gpus_per_node));
  const DeviceEntry* device = catalog.find_device(node.device);
  const int domain = device == nullptr ? 1 : device->domain_gpus;
  node.domain_gpus = static_cast<int>(
      section.integer("domain_gpus", 1, kMaxGpus).value_or(known ? node.domain_gpus : domain));
  std::vector<std::string> kinds;
  for (const NetworkEntry& network : catalog.networks) kinds.push_back(network.network.kind);
  const double gpus = node.gpus_per_node;
  double node_gbps = known ? node.network.nic_bytes_per_s * 8 / 1e9 * old->gpus_per_node : 0;
  if (const auto kind = section.choice("network", kinds)) node.network = catalog.networks[*kind].network;
  node_gbps = section.number("network_gbps", kPositive).value_or(node_gbps);
  node.network.nic_bytes_per_s = node_gbps * 1e9 / 8 / gpus;
  if (auto nics = section.text("nics")) node.nics = *nics;
  node.host_memory_bytes = section.size_bytes("host_memory").value_or(node.host_memory_bytes);
  node.nvme_bytes = section.size_bytes("nvme").value_or(node.nvme_bytes);
  read_origin(section, node.origin);
  section.finish();
  if (known) {
    *old = std::move(node);
  } else {
    catalog.nodes.push_back(std::move(node));
  }
}

}  // namespace

void read_devices(Section& root, Catalog& catalog) {
  for (Section& section : root.sections("device")) read_device(section, catalog);
}

void read_networks(Section& root, Catalog& catalog) {
  for (Section& section : root.sections("network")) read_network(section, catalog);
}

void read_nodes(Section& root, Catalog& catalog) {
  for (Section& section : root.sections("node")) read_node(section, catalog);
}

}  // namespace trainfront::inputs
