#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/hardware.hpp"
#include "costmodel/model.hpp"
#include "costmodel/offer.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// What the shipped and the user's catalogues say; the files are described in docs/catalogues.md.

// Where an entry's figures come from: "seen", "derived", "memory", "fitted", "extrapolated" or "judgement".
struct Origin {
  std::string source;
  std::string as_of;  // YYYY, YYYY-MM or YYYY-MM-DD
  std::string evidence;

  bool operator==(const Origin&) const = default;
};

struct DeviceEntry {
  costmodel::Device device;  // with its profile: measured if one is shipped, else scaled from the data sheet
  bool measured = false;
  std::string name;               // "NVIDIA H100 SXM5 80 GB"
  std::vector<std::string> also;  // other spellings: of price lists and run tables
  std::string architecture;
  std::string link;
  int domain_gpus = 1;  // GPUs on one scale-up fabric
  Origin origin;
  std::string not_modelled;  // why no plan is made for it, if none is; it has no profile then
};

struct NetworkEntry {
  costmodel::Network network;  // nic_bytes_per_s is the node's business
  std::string name;
  Origin origin;
};

struct NodeType {
  std::string provider;  // "": of any provider
  std::string instance;
  std::string device;  // id
  int gpus_per_node = 8;
  int domain_gpus = 8;
  costmodel::Network network;
  std::string nics;              // "8x400", in Gb/s
  double host_memory_bytes = 0;  // 0: not known
  double nvme_bytes = 0;
  Origin origin;
};

// The region of an offer that is the same wherever the provider has the instance.
inline constexpr std::string_view kAllRegions = "all";

struct OfferEntry {
  costmodel::Offer offer;  // its source and as_of are those of origin
  std::string evidence;
  std::string note;
  std::string file;  // where it was read
  Position at;
};

struct ModelEntry {
  std::string name;
  costmodel::Model model;
  Origin origin;
};

// Failures per 1000 node-days of nodes with eight GPUs.
struct FailureRate {
  std::vector<std::string> devices;  // empty: all others
  double low = 0, base = 0, high = 0;
  Origin origin;
};

// Preemptions per node-hour.
struct SpotRate {
  std::string provider;  // empty: all others
  double low = 0, base = 0, high = 0;
  double together = 1;  // nodes that one preemption takes, in the mean
  Origin origin;
};

// What data costs that leaves a provider for the internet: steps of volume, each at its price.
struct EgressPrice {
  std::string provider;
  std::vector<double> up_to_bytes;   // where each step but the last ends, ascending
  std::vector<double> usd_per_byte;  // one more than ends
  Origin origin;
};

// Dollars for `bytes` that leave at once.
double egress_usd(const EgressPrice& price, double bytes);

// One figure of restarting and checkpointing, in SI: "detect", "storage_bandwidth", ...
struct RecoveryFigure {
  std::string key;
  double low = 0, base = 0, high = 0;
  Origin origin;
};

struct Catalog {
  std::vector<DeviceEntry> devices;
  std::vector<DeviceEntry> unmodelled;  // devices that can be looked up, but not planned with
  std::vector<NetworkEntry> networks;
  std::vector<NodeType> nodes;
  std::vector<OfferEntry> offers;
  std::vector<ModelEntry> models;
  std::vector<FailureRate> failures;
  std::vector<SpotRate> spot;
  std::vector<RecoveryFigure> recovery;
  std::vector<EgressPrice> egress;

  // Null if there is none.
  const DeviceEntry* find_device(std::string_view id) const;
  // By id or another spelling, letter case apart.
  const DeviceEntry* resolve_device(std::string_view name) const;
  // Among those that are not modelled, by id or another spelling.
  const DeviceEntry* find_unmodelled(std::string_view name) const;
  const NetworkEntry* find_network(std::string_view kind) const;
  // The provider's own node type, else the one of any provider.
  const NodeType* find_node(std::string_view provider, std::string_view instance) const;
  const ModelEntry* find_model(std::string_view name) const;
  // The entry that lists the device, else the one for all others; likewise for spot.
  const FailureRate* find_failures(std::string_view device) const;
  const SpotRate* find_spot(std::string_view provider) const;
  const RecoveryFigure* find_recovery(std::string_view key) const;
  const EgressPrice* find_egress(std::string_view provider) const;

  // For suggestions and filters; sorted where the order means nothing.
  std::vector<std::string> device_ids() const;
  std::vector<std::string> model_names() const;
  std::vector<std::string> instances(std::string_view provider) const;  // that find_node finds
  std::vector<std::string> providers() const;                           // of offers
  std::vector<std::string> regions() const;                             // of offers
};

// "on_demand", "reserved", "spot", "owned"; by costmodel::PriceModel.
const std::vector<std::string>& price_model_names();
std::string_view price_model_name(costmodel::PriceModel price_model);

// Mean time between failures of a node with that many GPUs, in seconds, from a rate per 1000 node-days.
double node_mtbf_s(double per_1000_node_days, int gpus_per_node);

// The shipped catalogue. Notes say what was left out of it, and why.
Catalog builtin_catalog(std::vector<std::string>* notes = nullptr);

// Adds a user's file (our TOML or CSV, or SkyPilot's CSV) to the catalogue, or replaces entries of the same
// name. Faults go to `faults`; rows left out, duplicates resolved and prices that look wrong go to `notes`,
// in words.
void add_catalog_file(Catalog& catalog, const std::filesystem::path& file, Diagnostics& faults,
                      std::vector<std::string>& notes);

// The same for text in memory; `name` stands for the file in messages.
void add_catalog_toml(Catalog& catalog, std::string_view text, const std::string& name, Diagnostics& faults,
                      std::vector<std::string>& notes);
void add_offers_csv(Catalog& catalog, std::string text, const std::string& name, Diagnostics& faults,
                    std::vector<std::string>& notes);

}  // namespace trainfront::inputs
