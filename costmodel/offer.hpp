#pragma once

#include <cstdint>
#include <string>

namespace trainfront::costmodel {

enum class PriceModel : std::uint8_t { kOnDemand, kReserved, kSpot, kOwned };

// One row that somebody sells: whole nodes by the hour.
struct Offer {
  std::string provider;
  std::string region;
  std::string instance;
  std::string device;  // id
  int gpus_per_node = 8;
  PriceModel price_model = PriceModel::kOnDemand;
  double usd_per_node_hour = 0;          // 0 only when owned
  std::int64_t max_nodes = 0;            // 0: not limited
  double preemptions_per_node_hour = 0;  // spot
  double preempted_together = 1;         // nodes that a preemption takes at once, in the mean; 1 or more
  std::string source;                    // where the price was seen
  std::string as_of;                     // date of the price
  std::string zone;                      // of the region, where the price holds; empty: any
  double host_memory_bytes = 0;          // of a node; 0: not known
  double local_disk_bytes = 0;           // likewise
  double transfer_usd = 0;  // for data that leaves the provider over the whole training, beside the nodes

  bool operator==(const Offer&) const = default;
};

// Whole nodes that `gpus` need.
inline std::int64_t nodes_for(std::int64_t gpus, int gpus_per_node) {
  return (gpus + gpus_per_node - 1) / gpus_per_node;
}

// Dollars for `nodes` over `seconds`.
inline double rent_usd(const Offer& offer, std::int64_t nodes, double seconds) {
  return static_cast<double>(nodes) * offer.usd_per_node_hour * (seconds / 3600.0);
}

// The whole bill of a training that takes `seconds`.
inline double bill_usd(const Offer& offer, std::int64_t nodes, double seconds) {
  return rent_usd(offer, nodes, seconds) + offer.transfer_usd;
}

}  // namespace trainfront::costmodel
