#include "inputs/hardware_classes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainfront::inputs {
namespace {

auto key(const costmodel::Hardware& hardware) {
  const costmodel::Network& network = hardware.network;
  return std::tie(hardware.device.id, hardware.gpus_per_node, hardware.domain_gpus, network.kind,
                  network.nic_bytes_per_s, network.latency_scale, network.efficiency, network.rdma);
}

auto key(const costmodel::Offer& offer) {
  return std::tie(offer.provider, offer.region, offer.zone, offer.instance, offer.price_model,
                  offer.usd_per_node_hour, offer.max_nodes, offer.preemptions_per_node_hour,
                  offer.preempted_together, offer.host_memory_bytes, offer.local_disk_bytes);
}

}  // namespace

void add_offer(std::vector<search::HardwareClass>& classes, const costmodel::Hardware& hardware,
               costmodel::Offer offer) {
  auto same = std::find_if(classes.begin(), classes.end(), [&](const search::HardwareClass& entry) {
    return key(entry.hardware) == key(hardware);
  });
  if (same == classes.end()) {
    classes.emplace_back();
    same = classes.end() - 1;
    same->hardware = hardware;
  }
  same->offers.push_back(std::move(offer));
}

void sort_classes(std::vector<search::HardwareClass>& classes) {
  for (search::HardwareClass& entry : classes)
    std::stable_sort(entry.offers.begin(), entry.offers.end(),
                     [](const costmodel::Offer& a, const costmodel::Offer& b) { return key(a) < key(b); });
  std::stable_sort(classes.begin(), classes.end(),
                   [](const search::HardwareClass& a, const search::HardwareClass& b) {
                     return key(a.hardware) < key(b.hardware);
                   });
}

}  // namespace trainfront::inputs
