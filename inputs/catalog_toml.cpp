#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/parameters.hpp"
#include "inputs/catalog.hpp"
#include "inputs/catalog_offers.hpp"
#include "inputs/document.hpp"
#include "inputs/model_shape.hpp"
#include "inputs/section.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::PriceModel;

constexpr int kMaxGpus = 65536;

const std::array<std::string, 6> kEvidence = {"seen",   "derived",      "memory",
                                              "fitted", "extrapolated", "judgement"};

// Reads the entries of one file. Of an entry that is known already, keys that are absent keep their values;
// of a new one, those that matter must be there.
class CatalogReader {
 public:
  CatalogReader(Catalog& catalog, const Document& document, Diagnostics& faults,
                std::vector<std::string>& notes)
      : catalog_(&catalog),
        root_(document, document.root, "", faults),
        document_(&document),
        notes_(&notes) {}

  void read() {
    for (Section& section : root_.sections("device")) read_device(section);
    for (Section& section : root_.sections("network")) read_network(section);
    for (Section& section : root_.sections("node")) read_node(section);
    for (Section& section : root_.sections("model")) read_model(section);
    for (Section& section : root_.sections("node_failures")) read_failures(section);
    for (Section& section : root_.sections("spot")) read_spot(section);
    for (Section& section : root_.sections("recovery")) read_recovery(section);
    std::vector<OfferEntry> rows;
    for (Section& section : root_.sections("offer")) read_offer(section, rows);
    root_.finish();
    merge_offers(*catalog_, std::move(rows), root_.faults(), *notes_);
  }

 private:
  static double value_or(Section& section, std::string_view key, double present, bool known) {
    if (!known) section.require(key);
    return section.number(key, kPositive).value_or(present);
  }

  void read_origin(Section& section, Origin& origin) {
    if (auto source = section.text("source")) origin.source = *source;
    if (auto as_of = section.text("as_of")) {
      if (is_date(*as_of)) {
        origin.as_of = *as_of;
      } else {
        section.fault("as_of", "is no date", "YYYY, YYYY-MM or YYYY-MM-DD in quotes");
      }
    }
    if (const auto evidence = section.choice("evidence", kEvidence)) origin.evidence = kEvidence[*evidence];
  }

  void read_device(Section& section) {
    section.require("id");
    const auto id = section.text("id");
    if (!id) return section.finish();
    const auto old = std::find_if(catalog_->devices.begin(), catalog_->devices.end(),
                                  [&](const DeviceEntry& entry) { return entry.device.id == *id; });
    const bool known = old != catalog_->devices.end();
    DeviceEntry entry = known ? *old : DeviceEntry{};
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
    for (const char* key : {"domain_gpus", "compute_units"})
      if (!known) section.require(key);
    entry.domain_gpus =
        static_cast<int>(section.integer("domain_gpus", 1, kMaxGpus).value_or(entry.domain_gpus));
    device.compute_units =
        static_cast<int>(section.integer("compute_units", 1, kMaxGpus).value_or(device.compute_units));
    read_origin(section, entry.origin);
    section.finish();
    // With faults, figures may be missing that the profile is scaled from.
    if (!entry.measured && root_.faults().empty()) device.profile = costmodel::data_sheet_profile(device);
    if (known) {
      *old = std::move(entry);
    } else {
      catalog_->devices.push_back(std::move(entry));
    }
  }

  void read_network(Section& section) {
    section.require("kind");
    const auto kind = section.text("kind");
    if (!kind) return section.finish();
    const auto old = std::find_if(catalog_->networks.begin(), catalog_->networks.end(),
                                  [&](const NetworkEntry& entry) { return entry.network.kind == *kind; });
    const bool known = old != catalog_->networks.end();
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
      catalog_->networks.push_back(std::move(entry));
      return;
    }
    *old = entry;
    for (NodeType& node : catalog_->nodes) {
      if (node.network.kind != *kind) continue;
      const double rate = node.network.nic_bytes_per_s;
      node.network = entry.network;
      node.network.nic_bytes_per_s = rate;
    }
  }

  void read_node(Section& section) {
    const std::string provider = section.text("provider").value_or("");
    section.require("instance");
    const auto instance = section.text("instance");
    if (!instance) return section.finish();
    const auto old = std::find_if(catalog_->nodes.begin(), catalog_->nodes.end(), [&](const NodeType& node) {
      return node.provider == provider && node.instance == *instance;
    });
    const bool known = old != catalog_->nodes.end();
    NodeType node = known ? *old : NodeType{};
    node.provider = provider;
    node.instance = *instance;
    for (const char* key : {"device", "gpus", "network", "network_gbps"})
      if (!known) section.require(key);
    const std::vector<std::string> devices = catalog_->device_ids();
    if (const auto device = section.choice("device", devices)) node.device = devices[*device];
    node.gpus_per_node = static_cast<int>(section.integer("gpus", 1, kMaxGpus).value_or(node.gpus_per_node));
    const DeviceEntry* device = catalog_->find_device(node.device);
    const int domain = device == nullptr ? 1 : device->domain_gpus;
    node.domain_gpus = static_cast<int>(
        section.integer("domain_gpus", 1, kMaxGpus).value_or(known ? node.domain_gpus : domain));
    std::vector<std::string> kinds;
    for (const NetworkEntry& network : catalog_->networks) kinds.push_back(network.network.kind);
    const double gpus = node.gpus_per_node;
    double node_gbps = known ? node.network.nic_bytes_per_s * 8 / 1e9 * old->gpus_per_node : 0;
    if (const auto kind = section.choice("network", kinds)) node.network = catalog_->networks[*kind].network;
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
      catalog_->nodes.push_back(std::move(node));
    }
  }

  void read_model(Section& section) {
    section.require("name");
    const auto name = section.text("name");
    ModelEntry entry{name.value_or(""), read_model_shape(section, name.value_or("")), {}};
    const bool shape_is_good = root_.faults().empty();
    const auto stated = section.integer("parameters", 1, std::int64_t{1} << 53);
    read_origin(section, entry.origin);
    section.finish();
    if (stated && shape_is_good) {
      const std::int64_t counted = costmodel::count_parameters(entry.model).total;
      if (counted != *stated)
        section.fault("parameters", fmt::format("the shape has {} parameters", counted));
    }
    const auto old = std::find_if(catalog_->models.begin(), catalog_->models.end(),
                                  [&](const ModelEntry& other) { return other.name == entry.name; });
    if (old != catalog_->models.end()) {
      *old = std::move(entry);
    } else {
      catalog_->models.push_back(std::move(entry));
    }
  }

  // low, base and high; base alone is enough in a user's file.
  template <typename Entry>
  void in_order(Section& section, const Entry& entry) {
    if (!(entry.low <= entry.base && entry.base <= entry.high))
      section.fault("base", "must lie between low and high");
  }

  template <typename Entry>
  void read_numbers(Section& section, Entry& entry, Range range) {
    section.require("base");
    entry.base = section.number("base", range).value_or(1);
    entry.low = section.number("low", range).value_or(entry.base);
    entry.high = section.number("high", range).value_or(entry.base);
    in_order(section, entry);
    read_origin(section, entry.origin);
    section.finish();
  }

  void read_failures(Section& section) {
    FailureRate rate;
    if (section.require("devices") != nullptr) rate.devices = section.texts("devices").value_or(rate.devices);
    const std::vector<std::string> ids = catalog_->device_ids();
    for (const std::string& id : rate.devices)
      if (catalog_->find_device(id) == nullptr)
        section.fault("devices", fmt::format("holds an unknown device: {}", id), join(ids), nearest(id, ids));
    read_numbers(section, rate, kPositive);
    // The first entry that lists a device counts, so a later file's go first.
    catalog_->failures.insert(catalog_->failures.begin() + failures_read_++, std::move(rate));
  }

  void read_spot(Section& section) {
    SpotRate rate;
    // "" is a name here: all other providers.
    if (const Value* provider = section.require("provider")) {
      if (provider->kind == Value::Kind::kText) {
        rate.provider = provider->text;
      } else {
        section.fault("provider", "must be text in quotes");
      }
    }
    read_numbers(section, rate, kNotNegative);
    catalog_->spot.insert(catalog_->spot.begin() + spot_read_++, std::move(rate));
  }

  void read_recovery(Section& section) {
    struct Known {
      const char* key;
      char unit;  // of duration, rate, share
    };
    static constexpr std::array<Known, 10> kKnown = {{{"detect", 'd'},
                                                      {"replace", 'd'},
                                                      {"start_fixed", 'd'},
                                                      {"start_per_node", 'd'},
                                                      {"storage_bandwidth", 'r'},
                                                      {"node_storage_bandwidth", 'r'},
                                                      {"checkpoint_block_fixed", 'd'},
                                                      {"checkpoint_block_share", 's'},
                                                      {"controller", 'd'},
                                                      {"shrink", 'd'}}};
    std::vector<std::string> names;
    for (const Known& known : kKnown) names.emplace_back(known.key);
    section.require("key");
    const auto which = section.choice("key", names);
    if (!which) return;
    RecoveryFigure figure;
    figure.key = names[*which];
    const char unit = kKnown[*which].unit;
    const auto read = [&](std::string_view key) {
      if (unit == 'd') return section.duration_s(key);
      if (unit == 'r') return section.rate_bytes_per_s(key);
      return section.number(key, {0, 1, false});
    };
    section.require("base");
    figure.base = read("base").value_or(1);
    figure.low = read("low").value_or(figure.base);
    figure.high = read("high").value_or(figure.base);
    in_order(section, figure);
    read_origin(section, figure.origin);
    section.finish();
    const auto old = std::find_if(catalog_->recovery.begin(), catalog_->recovery.end(),
                                  [&](const RecoveryFigure& other) { return other.key == figure.key; });
    if (old != catalog_->recovery.end()) {
      *old = std::move(figure);
    } else {
      catalog_->recovery.push_back(std::move(figure));
    }
  }

  void read_offer(Section& section, std::vector<OfferEntry>& rows) {
    OfferEntry entry;
    costmodel::Offer& offer = entry.offer;
    entry.file = document_->file;
    entry.at = section.table().at;
    for (const char* key : {"provider", "region", "instance", "price_model", "usd_per_node_hour"})
      section.require(key);
    offer.provider = section.text("provider").value_or("");
    offer.region = section.text("region").value_or("");
    offer.zone = section.text("zone").value_or("");
    offer.instance = section.text("instance").value_or("");
    offer.price_model =
        static_cast<PriceModel>(section.choice("price_model", price_model_names()).value_or(0));
    const bool owned = offer.price_model == PriceModel::kOwned;
    offer.usd_per_node_hour =
        section.money_usd("usd_per_node_hour", owned ? kNotNegative : kPositive).value_or(1);
    offer.max_nodes = section.integer("max_nodes", 1, 1000000000).value_or(0);
    offer.preemptions_per_node_hour = section.number("preemptions_per_node_hour", kNotNegative).value_or(0);
    entry.note = section.text("note").value_or("");
    Origin origin;
    read_origin(section, origin);
    offer.source = origin.source;
    offer.as_of = origin.as_of;
    entry.evidence = origin.evidence;
    section.finish();
    if (offer.instance.empty()) return;
    const NodeType* node = catalog_->find_node(offer.provider, offer.instance);
    if (node == nullptr) {
      const std::vector<std::string> known = catalog_->instances(offer.provider);
      section.fault("instance", "unknown instance: describe it under [[node]]", join(known),
                    nearest(offer.instance, known));
      return;
    }
    offer.device = node->device;
    offer.gpus_per_node = node->gpus_per_node;
    rows.push_back(std::move(entry));
  }

  Catalog* catalog_;
  Section root_;
  const Document* document_;
  std::vector<std::string>* notes_;
  std::ptrdiff_t failures_read_ = 0;
  std::ptrdiff_t spot_read_ = 0;
};

}  // namespace

void add_catalog_toml(Catalog& catalog, std::string_view text, const std::string& name, Diagnostics& faults,
                      std::vector<std::string>& notes) {
  const Document document = parse_toml(text, name, faults);
  CatalogReader(catalog, document, faults, notes).read();
}

}  // namespace trainfront::inputs
