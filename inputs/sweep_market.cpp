#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "inputs/catalog_offers.hpp"
#include "inputs/hardware_classes.hpp"
#include "inputs/suggest.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A filter of [market]: empty lets all pass. Who names only offers of this file wants no others.
std::vector<std::string> read_filter(Section& section, std::string_view key, std::vector<std::string> known,
                                     const std::vector<std::string>& own) {
  std::vector<std::string> names = section.texts(key).value_or(std::vector<std::string>());
  known.insert(known.end(), own.begin(), own.end());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : names) {
    if (contains(known, name)) continue;
    const bool means_mine = name == "own" || name == "owned";
    section.fault(
        key,
        fmt::format("no offer of the catalogue{} has {}{}", own.empty() ? "" : " or of this file",
                    in_quotes(name),
                    means_mine ? "; what you own goes into [[market.offer]], and catalog = [] leaves "
                                 "out all other offers"
                               : ""),
        join(known), means_mine ? "" : nearest(name, known));
  }
  return names;
}

std::vector<std::string> texts_of(const std::vector<search::HardwareClass>& classes,
                                  std::string Offer::*member) {
  std::vector<std::string> texts;
  for (const search::HardwareClass& entry : classes)
    for (const Offer& offer : entry.offers) texts.push_back(offer.*member);
  return texts;
}

struct Filters {
  std::vector<std::string> devices, providers, regions, price_models;

  bool passes(const Offer& offer) const {
    const auto lets = [](const std::vector<std::string>& names, std::string_view name) {
      return names.empty() || contains(names, name);
    };
    return lets(devices, offer.device) && lets(providers, offer.provider) &&
           (lets(regions, offer.region) || offer.region == kAllRegions) &&
           lets(price_models, price_model_name(offer.price_model));
  }
};

// What each filter alone would leave, and where the devices can be had at all.
std::string why_empty(const Catalog& catalog, const Filters& filters) {
  std::string text = fmt::format("no offer is left: the catalogue has {}", catalog.offers.size());
  const auto count = [&](const Filters& alone) {
    return std::count_if(catalog.offers.begin(), catalog.offers.end(),
                         [&](const OfferEntry& entry) { return alone.passes(entry.offer); });
  };
  if (!filters.devices.empty())
    text += fmt::format(", {} of devices {}", count({filters.devices, {}, {}, {}}), join(filters.devices));
  if (!filters.providers.empty())
    text +=
        fmt::format(", {} of providers {}", count({{}, filters.providers, {}, {}}), join(filters.providers));
  if (!filters.regions.empty())
    text += fmt::format(", {} in regions {}", count({{}, {}, filters.regions, {}}), join(filters.regions));
  if (!filters.price_models.empty())
    text += fmt::format(", {} under price models {}", count({{}, {}, {}, filters.price_models}),
                        join(filters.price_models));
  return text;
}

// Rows without a usable price may be what the user is missing.
std::string what_was_left_out(std::span<const std::string> catalog_notes) {
  constexpr std::size_t kShown = 5;
  if (catalog_notes.empty()) return {};
  std::string text =
      fmt::format(". What was read says: {}",
                  fmt::join(catalog_notes.first(std::min(kShown, catalog_notes.size())), "; "));
  if (catalog_notes.size() > kShown) text += fmt::format("; and {} more", catalog_notes.size() - kShown);
  return text;
}

std::string what_there_is(const Catalog& catalog, const std::vector<std::string>& devices) {
  if (catalog.offers.empty()) return "a catalogue with offers, or [[market.offer]]";
  std::vector<std::string> rows;
  for (const OfferEntry& entry : catalog.offers) {
    const Offer& offer = entry.offer;
    if (!devices.empty() && !contains(devices, offer.device)) continue;
    std::string row =
        fmt::format("{} {} {}", offer.provider, offer.device, price_model_name(offer.price_model));
    if (!contains(rows, row)) rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end());
  return rows.empty() ? fmt::format("offers of these devices: none; of others: {}", join(catalog.providers()))
                      : join(rows);
}

struct Discount {
  std::string provider;
  double factor = 1;
};

std::vector<Discount> read_discounts(Section& market, const Catalog& catalog) {
  std::vector<Discount> discounts;
  auto section = market.section("discount");
  if (!section) return discounts;
  for (const std::string& provider : catalog.providers())
    if (const auto factor = section->number(provider, {0, 1, true})) discounts.push_back({provider, *factor});
  section->finish();
  return discounts;
}

// A spot price that is no bargain usually means that nothing is for sale (a list price shown for want of
// another).
void note_odd_spot_prices(const std::vector<search::HardwareClass>& classes,
                          std::vector<std::string>& notes) {
  constexpr int kMaxNotes = 10;
  int odd = 0;
  for (const search::HardwareClass& entry : classes) {
    std::map<OfferName, double> on_demand;  // whatever the zone, the lowest
    const auto place_of = [](const Offer& offer) {
      OfferName name = name_of(offer);
      name.price_model = PriceModel::kOnDemand;
      name.zone.clear();
      return name;
    };
    for (const Offer& offer : entry.offers) {
      if (offer.price_model != PriceModel::kOnDemand) continue;
      double& lowest = on_demand.emplace(place_of(offer), offer.usd_per_node_hour).first->second;
      lowest = std::min(lowest, offer.usd_per_node_hour);
    }
    for (const Offer& spot : entry.offers) {
      if (spot.price_model != PriceModel::kSpot) continue;
      const auto list = on_demand.find(place_of(spot));
      if (list == on_demand.end() || spot.usd_per_node_hour < list->second || ++odd > kMaxNotes) continue;
      notes.push_back(fmt::format(
          "market: {} {} {} costs {} $ per node and hour as spot and {} $ on demand: the spot offer "
          "is dominated",
          spot.provider, spot.region, spot.instance, spot.usd_per_node_hour, list->second));
    }
  }
  if (odd > kMaxNotes)
    notes.push_back(fmt::format("market: so {} more",
                                odd - kMaxNotes == 1 ? "is one" : fmt::format("are {}", odd - kMaxNotes)));
}

void note_prices(const std::vector<search::HardwareClass>& classes, std::vector<std::string>& notes) {
  std::size_t offers = 0;
  std::string oldest, newest;
  for (const search::HardwareClass& entry : classes)
    for (const Offer& offer : entry.offers) {
      ++offers;
      if (offer.as_of.empty()) continue;
      if (oldest.empty() || offer.as_of < oldest) oldest = offer.as_of;
      newest = std::max(newest, offer.as_of);
    }
  std::string note = fmt::format("market: {} offer{} on {} kind{} of nodes", offers, offers == 1 ? "" : "s",
                                 classes.size(), classes.size() == 1 ? "" : "s");
  if (!oldest.empty())
    note += fmt::format(", prices of {}", oldest == newest ? oldest : oldest + " to " + newest);
  notes.push_back(note);
}

// Offers that one price covers everywhere pass every filter on regions, which not all who name one expect.
void note_everywhere(const Catalog& catalog, const Filters& filters, std::vector<std::string>& notes) {
  if (filters.regions.empty() || contains(filters.regions, kAllRegions)) return;
  std::vector<std::string> providers;
  for (const OfferEntry& entry : catalog.offers)
    if (entry.offer.region == kAllRegions && filters.passes(entry.offer) &&
        !contains(providers, entry.offer.provider))
      providers.push_back(entry.offer.provider);
  if (!providers.empty())
    notes.push_back(fmt::format(
        "market.regions: offers at one price everywhere (region {}: {}) are in any region; list providers to "
        "leave them out",
        in_quotes(kAllRegions), join(providers)));
}

}  // namespace

Catalog read_catalogs(Section& section, const Catalog& builtin, const std::filesystem::path& folder,
                      std::vector<std::string>& notes) {
  Catalog catalog = builtin;
  const auto names = section.texts("catalog");
  if (!names) return catalog;
  // Devices, nodes and rates stay known; only the shipped prices are left out unless asked for.
  if (!contains(*names, "builtin")) catalog.offers.clear();
  for (const std::string& name : *names) {
    if (name == "builtin") continue;
    const std::filesystem::path path = folder.empty() ? std::filesystem::path(name) : folder / name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      const std::vector<std::string> known{"builtin"};
      section.fault("catalog", fmt::format("file {} does not exist", in_quotes(path.string())),
                    "\"builtin\" or a file of ours (CSV, TOML) or of SkyPilot's", nearest(name, known));
      continue;
    }
    add_catalog_file(catalog, path, section.faults(), notes);
  }
  return catalog;
}

std::vector<search::HardwareClass> read_market_section(Section& section, const Catalog& catalog,
                                                       const ClusterSection& cluster,
                                                       std::span<const std::string> catalog_notes,
                                                       std::vector<std::string>& notes) {
  const std::vector<search::HardwareClass> own = read_inline_offers(section, catalog);
  Filters filters;
  filters.devices = cluster.devices;
  filters.providers = read_filter(section, "providers", catalog.providers(), texts_of(own, &Offer::provider));
  filters.regions = read_filter(section, "regions", catalog.regions(), texts_of(own, &Offer::region));
  filters.price_models = section.texts("price_models").value_or(std::vector<std::string>());
  for (const std::string& name : filters.price_models)
    if (!contains(price_model_names(), name))
      section.fault("price_models", fmt::format("unknown name {}", in_quotes(name)),
                    join(price_model_names()), nearest(name, price_model_names()));
  const std::vector<Discount> discounts = read_discounts(section, catalog);

  std::vector<search::HardwareClass> classes;
  std::set<OfferName> replaced;
  for (const search::HardwareClass& entry : own)
    for (const Offer& offer : entry.offers) replaced.insert(name_of(offer));
  for (const OfferEntry& entry : catalog.offers) {
    Offer offer = entry.offer;
    if (!filters.passes(offer)) continue;
    const NodeType* node = catalog.find_node(offer.provider, offer.instance);
    const DeviceEntry* device = catalog.find_device(offer.device);
    if (node == nullptr || device == nullptr) continue;  // refused when the catalogue was read
    if (replaced.contains(name_of(offer))) {
      notes.push_back(fmt::format("market: the offer of {} {} {} in this file stands for the catalogue's",
                                  offer.provider, offer.region, offer.instance));
      continue;
    }
    for (const Discount& discount : discounts)
      if (discount.provider == offer.provider) offer.usd_per_node_hour *= discount.factor;
    if (offer.price_model == PriceModel::kSpot && offer.preemptions_per_node_hour <= 0)
      if (const SpotRate* rate = catalog.find_spot(offer.provider)) {
        offer.preemptions_per_node_hour = rate->base;
        offer.preempted_together = rate->together;
      }
    offer.host_memory_bytes = node->host_memory_bytes;
    offer.local_disk_bytes = node->nvme_bytes;
    add_offer(classes, {device->device, node->gpus_per_node, node->domain_gpus, node->network},
              std::move(offer));
  }
  for (const search::HardwareClass& entry : own) {
    const std::string& device = entry.hardware.device.id;
    if (!cluster.devices.empty() && !contains(cluster.devices, device)) {
      notes.push_back(
          fmt::format("market.offer: {} is not among cluster.devices; its offers are left out", device));
      continue;
    }
    for (const Offer& offer : entry.offers) add_offer(classes, entry.hardware, offer);
  }

  const bool some = !classes.empty();
  bill_egress(section, catalog, classes, notes);
  if (!some && section.faults().empty())
    section.fault("", why_empty(catalog, filters) + what_was_left_out(catalog_notes),
                  what_there_is(catalog, filters.devices));
  for (const std::string& device : cluster.devices)
    if (!classes.empty() &&
        std::none_of(classes.begin(), classes.end(),
                     [&](const search::HardwareClass& entry) { return entry.hardware.device.id == device; }))
      notes.push_back(fmt::format("market: no offer of {} passes the filters", device));

  note_everywhere(catalog, filters, notes);
  sort_classes(classes);
  note_odd_spot_prices(classes, notes);
  if (!classes.empty()) note_prices(classes, notes);
  return classes;
}

}  // namespace trainfront::inputs
