#include "inputs/catalog.hpp"

#include <algorithm>
#include <cctype>

namespace trainfront::inputs {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

bool is_called(const DeviceEntry& entry, std::string_view name) {
  return same_letters(entry.device.id, name) ||
         std::any_of(entry.also.begin(), entry.also.end(),
                     [&](const std::string& also) { return same_letters(also, name); });
}

template <typename Entries, typename Matches>
auto find_entry(const Entries& entries, Matches matches) -> const typename Entries::value_type* {
  const auto found = std::find_if(entries.begin(), entries.end(), matches);
  return found == entries.end() ? nullptr : &*found;
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

const DeviceEntry* Catalog::find_device(std::string_view id) const {
  return find_entry(devices, [&](const DeviceEntry& entry) { return entry.device.id == id; });
}

const DeviceEntry* Catalog::resolve_device(std::string_view name) const {
  return find_entry(devices, [&](const DeviceEntry& entry) { return is_called(entry, name); });
}

const DeviceEntry* Catalog::find_unmodelled(std::string_view name) const {
  return find_entry(unmodelled, [&](const DeviceEntry& entry) { return is_called(entry, name); });
}

const NetworkEntry* Catalog::find_network(std::string_view kind) const {
  return find_entry(networks, [&](const NetworkEntry& entry) { return entry.network.kind == kind; });
}

const NodeType* Catalog::find_node(std::string_view provider, std::string_view instance) const {
  const auto of = [&](std::string_view owner) {
    return find_entry(
        nodes, [&](const NodeType& node) { return node.provider == owner && node.instance == instance; });
  };
  const NodeType* own = of(provider);
  return own != nullptr ? own : of("");
}

const ModelEntry* Catalog::find_model(std::string_view name) const {
  return find_entry(models, [&](const ModelEntry& entry) { return entry.name == name; });
}

const FailureRate* Catalog::find_failures(std::string_view device) const {
  const FailureRate* own = find_entry(failures, [&](const FailureRate& rate) {
    return std::find(rate.devices.begin(), rate.devices.end(), device) != rate.devices.end();
  });
  if (own != nullptr) return own;
  return find_entry(failures, [](const FailureRate& rate) { return rate.devices.empty(); });
}

const SpotRate* Catalog::find_spot(std::string_view provider) const {
  const SpotRate* own = find_entry(spot, [&](const SpotRate& rate) { return rate.provider == provider; });
  if (own != nullptr) return own;
  return find_entry(spot, [](const SpotRate& rate) { return rate.provider.empty(); });
}

const RecoveryFigure* Catalog::find_recovery(std::string_view key) const {
  return find_entry(recovery, [&](const RecoveryFigure& figure) { return figure.key == key; });
}

const EgressPrice* Catalog::find_egress(std::string_view provider) const {
  return find_entry(egress, [&](const EgressPrice& price) { return price.provider == provider; });
}

double egress_usd(const EgressPrice& price, double bytes) {
  double usd = 0;
  double from = 0;
  for (std::size_t step = 0; step < price.usd_per_byte.size(); ++step) {
    const double to = step < price.up_to_bytes.size() ? std::min(bytes, price.up_to_bytes[step]) : bytes;
    if (to > from) usd += (to - from) * price.usd_per_byte[step];
    from = std::max(from, to);
  }
  return usd;
}

std::vector<std::string> Catalog::device_ids() const {
  std::vector<std::string> ids;
  for (const DeviceEntry& entry : devices) ids.push_back(entry.device.id);
  return ids;
}

std::vector<std::string> Catalog::model_names() const {
  std::vector<std::string> names;
  for (const ModelEntry& entry : models) names.push_back(entry.name);
  return names;
}

std::vector<std::string> Catalog::instances(std::string_view provider) const {
  std::vector<std::string> names;
  for (const NodeType& node : nodes)
    if (node.provider == provider || node.provider.empty()) names.push_back(node.instance);
  sort_unique(names);
  return names;
}

std::vector<std::string> Catalog::providers() const {
  std::vector<std::string> names;
  for (const OfferEntry& entry : offers) names.push_back(entry.offer.provider);
  sort_unique(names);
  return names;
}

std::vector<std::string> Catalog::regions() const {
  std::vector<std::string> names;
  for (const OfferEntry& entry : offers) names.push_back(entry.offer.region);
  sort_unique(names);
  return names;
}

const std::vector<std::string>& price_model_names() {
  static const std::vector<std::string> kNames = {"on_demand", "reserved", "spot", "owned"};
  return kNames;
}

std::string_view price_model_name(costmodel::PriceModel price_model) {
  return price_model_names()[static_cast<std::size_t>(price_model)];
}

double node_mtbf_s(double per_1000_node_days, int gpus_per_node) {
  constexpr double kSecondsPerDay = 86400;
  constexpr double kGpusOfTheRate = 8;
  return 1000 * kSecondsPerDay / per_1000_node_days * (kGpusOfTheRate / gpus_per_node);
}

}  // namespace trainfront::inputs
