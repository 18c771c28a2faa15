#include "inputs/skypilot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "inputs/catalog_offers.hpp"
#include "inputs/csv.hpp"
#include "inputs/skypilot_rows.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

// Spot this near to on-demand is no market.
constexpr double kNoBargain = 0.97;

// AWS lists a spot price of exactly a tenth where nobody ever asked.
bool is_floor(double spot, double on_demand) {
  return std::abs(spot / on_demand - 0.1) < 0.0005;
}

// Counts rows left out by reason, with a few examples of each.
class LeftOut {
 public:
  void add(const std::string& reason, const std::string& example) {
    Reason& entry = reasons_[reason];
    ++entry.rows;
    if (entry.examples.size() < kExamples &&
        std::find(entry.examples.begin(), entry.examples.end(), example) == entry.examples.end())
      entry.examples.push_back(example);
    else if (entry.examples.size() == kExamples)
      entry.more = true;
  }

  void tell(const std::string& name, std::vector<std::string>& notes) const {
    for (const auto& [reason, entry] : reasons_)
      notes.push_back(fmt::format("{}: {} {} left out: {} ({}{})", name, entry.rows,
                                  entry.rows == 1 ? "price" : "prices", reason,
                                  fmt::join(entry.examples, ", "), entry.more ? ", ..." : ""));
  }

 private:
  static constexpr std::size_t kExamples = 5;
  struct Reason {
    int rows = 0;
    bool more = false;
    std::vector<std::string> examples;
  };
  std::map<std::string, Reason> reasons_;
};

std::string where(const SkypilotRow& row) {
  return row.zone.empty() ? fmt::format("{} {}", row.region, row.instance)
                          : fmt::format("{} {}", row.zone, row.instance);
}

// False where the row speaks of other hardware than the catalogue's node type of that name. Memory is
// compared loosely: lists write GB for GiB, some give the sum over all GPUs, some GB in the column of MiB.
bool meets(const SkypilotRow& row, const NodeType& node, const Catalog& catalog) {
  if (row.count != 0 && row.count != node.gpus_per_node) return false;
  const DeviceEntry* stated = catalog.resolve_device(row.accelerator);
  if (stated != nullptr && stated->device.id != node.device) return false;
  const DeviceEntry* device = catalog.find_device(node.device);
  if (!row.memory_mib || device == nullptr) return true;
  const double known = device->device.memory_bytes / 1048576;
  const auto near = [&](double mib) { return mib > 0.9 * known && mib < 1.15 * known; };
  return near(*row.memory_mib) || near(*row.memory_mib * 1024) || near(*row.memory_mib / node.gpus_per_node);
}

OfferEntry entry_of(const SkypilotRow& row, const NodeType& node, const SkypilotOptions& options,
                    PriceModel price_model, double price) {
  OfferEntry entry;
  Offer& offer = entry.offer;
  offer.provider = options.cloud;
  offer.region = row.region;
  offer.zone = row.zone;
  offer.instance = row.instance;
  offer.device = node.device;
  offer.gpus_per_node = node.gpus_per_node;
  offer.price_model = price_model;
  offer.usd_per_node_hour = price;
  offer.source = fmt::format("SkyPilot catalogue of {}", options.cloud);
  offer.as_of = options.as_of;
  entry.evidence = row.combined ? "derived" : "seen";
  if (row.combined) entry.note = "host and accelerators, same zone";
  entry.file = row.file;
  entry.at = {row.line, 1};
  return entry;
}

// On-demand prices hold for a region: where all of its zones agree they become one row without a zone.
void join_zones(std::vector<OfferEntry>& rows) {
  std::map<std::pair<std::string, std::string>, std::set<double>> prices;
  const auto key = [](const Offer& offer) { return std::pair(offer.region, offer.instance); };
  for (const OfferEntry& row : rows)
    if (row.offer.price_model == PriceModel::kOnDemand)
      prices[key(row.offer)].insert(row.offer.usd_per_node_hour);
  std::set<std::pair<std::string, std::string>> done;
  std::vector<OfferEntry> joined;
  for (OfferEntry& row : rows) {
    const bool one_price =
        row.offer.price_model == PriceModel::kOnDemand && prices[key(row.offer)].size() == 1;
    if (one_price && !done.insert(key(row.offer)).second) continue;
    if (one_price) row.offer.zone.clear();
    joined.push_back(std::move(row));
  }
  rows = std::move(joined);
}

}  // namespace

std::vector<OfferEntry> read_skypilot(const Catalog& catalog, std::string text, const std::string& name,
                                      const SkypilotOptions& options, Diagnostics& faults,
                                      std::vector<std::string>& notes) {
  std::vector<OfferEntry> offers;
  LeftOut left_out;
  std::vector<SkypilotRow> rows = read_skypilot_rows(std::move(text), name, faults);
  if (std::any_of(rows.begin(), rows.end(), [](const SkypilotRow& row) { return row.instance.empty(); }))
    rows = combine_hosts_and_accelerators(rows, [&](const std::string& reason, const SkypilotRow& row) {
      left_out.add(reason, row.instance.empty()
                               ? fmt::format("{} {} x{}", row.zone, row.accelerator, row.count)
                               : where(row));
    });
  for (const SkypilotRow& row : rows) {
    const NodeType* node = catalog.find_node(options.cloud, row.instance);
    if (node == nullptr || node->provider.empty()) {
      const bool known_gpu = catalog.resolve_device(row.accelerator) != nullptr;
      left_out.add(known_gpu ? "the catalogue has a device of that name, but no such node type"
                             : "neither device nor node type is in the catalogue",
                   row.instance);
      continue;
    }
    if (!meets(row, *node, catalog)) {
      left_out.add("its accelerators differ from the catalogue's node type", where(row));
      continue;
    }
    if (!row.price && !row.spot) left_out.add("no price", where(row));
    if (row.price) offers.push_back(entry_of(row, *node, options, PriceModel::kOnDemand, *row.price));
    if (!row.spot) continue;
    if (row.price && *row.spot >= kNoBargain * *row.price) {
      left_out.add("spot is as dear as on-demand: no market", where(row));
    } else if (row.price && is_floor(*row.spot, *row.price)) {
      left_out.add("spot lies on the floor of a tenth of on-demand: no market", where(row));
    } else {
      offers.push_back(entry_of(row, *node, options, PriceModel::kSpot, *row.spot));
    }
  }
  join_zones(offers);
  left_out.tell(name, notes);
  if (options.as_of.empty() && !offers.empty())
    notes.push_back(fmt::format("{}: the list has no date and none was given", name));
  return offers;
}

std::optional<std::string> guess_cloud(const Catalog& catalog, std::string_view path) {
  const std::filesystem::path file(path);
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  for (const NodeType& node : catalog.nodes) {
    if (node.provider.empty()) continue;
    if (folder == node.provider || stem == node.provider || stem.starts_with(node.provider + "_") ||
        stem.starts_with(node.provider + "-"))
      return node.provider;
  }
  return std::nullopt;
}

std::optional<double> gpu_memory_mib(std::string_view gpu_info) {
  constexpr std::string_view kKey = "SizeInMiB";
  const std::size_t at = gpu_info.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at + kKey.size();
  while (begin < gpu_info.size() && std::string_view("'\": ").find(gpu_info[begin]) != std::string_view::npos)
    ++begin;
  std::size_t end = begin;
  while (end < gpu_info.size() && ((gpu_info[end] >= '0' && gpu_info[end] <= '9') || gpu_info[end] == '.'))
    ++end;
  return csv_number(gpu_info.substr(begin, end - begin));
}

std::string write_offers_csv(const std::vector<OfferEntry>& offers) {
  std::string text = csv_line({"provider", "region", "zone", "instance", "price_model", "usd_per_node_hour",
                               "max_nodes", "as_of", "evidence", "source", "note"});
  for (const OfferEntry& entry : offers) {
    const Offer& offer = entry.offer;
    text += csv_line({offer.provider, offer.region, offer.zone, offer.instance,
                      std::string(price_model_name(offer.price_model)),
                      fmt::format("{}", offer.usd_per_node_hour),
                      offer.max_nodes > 0 ? std::to_string(offer.max_nodes) : "", offer.as_of, entry.evidence,
                      offer.source, entry.note});
  }
  return text;
}

}  // namespace trainfront::inputs
