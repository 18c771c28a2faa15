#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inputs/catalog_offers.hpp"
#include "inputs/hardware_classes.hpp"
#include "inputs/quantity.hpp"
#include "inputs/suggest.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Hardware;
using costmodel::Offer;
using costmodel::PriceModel;

constexpr std::int64_t kMaxGpusPerNode = 1024;
constexpr int kMostGpusOfServer = 16;

std::string needed_text(Section& section, std::string_view key) {
  if (section.require(key) == nullptr) return {};
  return section.text(key).value_or("");
}

void read_price(Section& section, Offer& offer) {
  const bool own = offer.provider == "own" || offer.provider == "owned";
  const auto model = section.choice("price_model", price_model_names());
  offer.price_model = model ? static_cast<PriceModel>(*model)
                      : own ? PriceModel::kOwned
                            : PriceModel::kOnDemand;
  if (section.require("usd_per_node_hour") == nullptr) return;
  const auto price = section.money_usd("usd_per_node_hour");
  if (!price) return;
  offer.usd_per_node_hour = *price;
  if (*price == 0 && offer.price_model != PriceModel::kOwned)
    section.fault("usd_per_node_hour", "is 0, which only owned nodes cost",
                  "a price above 0, or price_model = \"owned\"");
}

// The node type says what the offer leaves out; what both say must agree. Nothing if the hardware cannot be
// told.
std::optional<Hardware> read_hardware(Section& section, const Catalog& catalog, Offer& offer) {
  const NodeType* node = catalog.find_node(offer.provider, offer.instance);
  const auto device_name = section.text("device");
  const auto gpus = section.integer("gpus_per_node", 1, kMaxGpusPerNode);
  const auto domain = section.integer("domain_gpus", 1, kMaxGpusPerNode);
  const auto gbps = section.number("network_gbps", {0, 1e6, true});
  const std::vector<std::string> kinds = [&] {
    std::vector<std::string> names;
    for (const NetworkEntry& entry : catalog.networks) names.push_back(entry.network.kind);
    return names;
  }();
  const auto kind = section.choice("network", kinds);
  offer.host_memory_bytes =
      section.size_bytes("host_memory").value_or(node != nullptr ? node->host_memory_bytes : 0);
  offer.local_disk_bytes = section.size_bytes("nvme").value_or(node != nullptr ? node->nvme_bytes : 0);

  if (node != nullptr && device_name && *device_name != node->device) {
    section.fault("device", fmt::format("is {}, but {} nodes hold {}", in_quotes(*device_name),
                                        offer.instance, node->device));
    return std::nullopt;
  }
  if (node != nullptr && gpus && *gpus != node->gpus_per_node) {
    section.fault("gpus_per_node",
                  fmt::format("is {}, but {} nodes hold {}", *gpus, offer.instance, node->gpus_per_node));
    return std::nullopt;
  }
  if (node == nullptr) {
    section.require("device");
    section.require("gpus_per_node");
    if (section.find("network") == nullptr || section.find("network_gbps") == nullptr) {
      const std::vector<std::string> known = catalog.instances(offer.provider);
      section.fault(
          "instance",
          fmt::format(
              "no node type {} is known; network and network_gbps (of the whole node) are needed then",
              in_quotes(offer.instance)),
          join(known), nearest(offer.instance, known));
      return std::nullopt;
    }
    if (!device_name || !gpus || !gbps || !kind) return std::nullopt;
  }

  const std::string id = device_name ? *device_name : node != nullptr ? node->device : "";
  const DeviceEntry* device = catalog.find_device(id);
  if (device == nullptr) {
    const std::vector<std::string> known = catalog.device_ids();
    const DeviceEntry* meant = catalog.resolve_device(id);
    section.fault("device", fmt::format("unknown device {}", in_quotes(id)), join(known),
                  meant != nullptr ? meant->device.id : nearest(id, known));
    return std::nullopt;
  }
  Hardware hardware;
  hardware.device = device->device;
  hardware.gpus_per_node = gpus ? static_cast<int>(*gpus) : node->gpus_per_node;
  // A fabric of more GPUs than any server has spans nodes: a rack.
  const bool spans_nodes = device->domain_gpus > kMostGpusOfServer;
  hardware.domain_gpus = domain            ? static_cast<int>(*domain)
                         : node != nullptr ? node->domain_gpus
                         : spans_nodes     ? device->domain_gpus
                                           : std::min(device->domain_gpus, hardware.gpus_per_node);
  if (node != nullptr) hardware.network = node->network;
  if (kind) {
    const double bytes_per_s = hardware.network.nic_bytes_per_s;
    hardware.network = catalog.networks[*kind].network;
    hardware.network.nic_bytes_per_s = bytes_per_s;
  }
  if (gbps) hardware.network.nic_bytes_per_s = *gbps * 1e9 / 8 / hardware.gpus_per_node;
  offer.device = id;
  offer.gpus_per_node = hardware.gpus_per_node;
  return hardware;
}

}  // namespace

std::vector<search::HardwareClass> read_inline_offers(Section& market, const Catalog& catalog) {
  constexpr std::int64_t kMaxNodes = 10'000'000;
  std::vector<search::HardwareClass> classes;
  std::set<OfferName> seen;
  for (Section& section : market.sections("offer")) {
    Offer offer;
    offer.provider = needed_text(section, "provider");
    offer.region = section.text("region").value_or("all");
    offer.zone = section.text("zone").value_or("");
    offer.instance = needed_text(section, "instance");
    offer.max_nodes = section.integer("max_nodes", 1, kMaxNodes).value_or(0);
    offer.source = section.document().file;
    if (section.find("preemptions_per_node_hour") != nullptr)
      offer.preemptions_per_node_hour =
          section.number("preemptions_per_node_hour", {0, 3600, false}).value_or(0);
    if (const auto together = section.number("preempted_together", {1, 1e6, false}))
      offer.preempted_together = *together;
    read_price(section, offer);
    const auto hardware = read_hardware(section, catalog, offer);
    section.finish();
    if (!seen.insert(name_of(offer)).second) {
      section.fault(
          "", fmt::format("is a second offer of {} {} {}", offer.provider, offer.region, offer.instance),
          "one price for a place, instance and price model");
      continue;
    }
    if (hardware) add_offer(classes, *hardware, std::move(offer));
  }
  return classes;
}

}  // namespace trainfront::inputs
