#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "costmodel/parameters.hpp"
#include "inputs/catalog.hpp"
#include "inputs/catalog_offers.hpp"
#include "inputs/catalog_sections.hpp"
#include "inputs/model_shape.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::PriceModel;

void read_model(Section& section, Catalog& catalog) {
  section.require("name");
  const auto name = section.text("name");
  ModelEntry entry{name.value_or(""), read_model_shape(section, name.value_or("")), {}};
  const bool shape_is_good = section.faults().empty();
  const auto stated = section.integer("parameters", 1, std::int64_t{1} << 53);
  read_origin(section, entry.origin);
  section.finish();
  if (stated && shape_is_good) {
    const std::int64_t counted = costmodel::count_parameters(entry.model).total;
    if (counted != *stated) section.fault("parameters", fmt::format("the shape has {} parameters", counted));
  }
  const auto old = std::find_if(catalog.models.begin(), catalog.models.end(),
                                [&](const ModelEntry& other) { return other.name == entry.name; });
  if (old != catalog.models.end()) {
    *old = std::move(entry);
  } else {
    catalog.models.push_back(std::move(entry));
  }
}

void read_offer(Section& section, const Catalog& catalog, std::vector<OfferEntry>& rows) {
  OfferEntry entry;
  costmodel::Offer& offer = entry.offer;
  entry.file = section.document().file;
  entry.at = section.table().at;
  for (const char* key : {"provider", "region", "instance", "price_model", "usd_per_node_hour"})
    section.require(key);
  offer.provider = section.text("provider").value_or("");
  offer.region = section.text("region").value_or("");
  offer.zone = section.text("zone").value_or("");
  offer.instance = section.text("instance").value_or("");
  offer.price_model = static_cast<PriceModel>(section.choice("price_model", price_model_names()).value_or(0));
  const bool owned = offer.price_model == PriceModel::kOwned;
  offer.usd_per_node_hour =
      section.money_usd("usd_per_node_hour", owned ? kNotNegative : kPositive).value_or(1);
  offer.max_nodes = section.integer("max_nodes", 1, 1000000000).value_or(0);
  offer.preemptions_per_node_hour = section.number("preemptions_per_node_hour", kNotNegative).value_or(0);
  offer.preempted_together = section.number("preempted_together", {1, 1e6, false}).value_or(1);
  entry.note = section.text("note").value_or("");
  Origin origin;
  read_origin(section, origin);
  offer.source = origin.source;
  offer.as_of = origin.as_of;
  entry.evidence = origin.evidence;
  section.finish();
  if (offer.instance.empty()) return;
  const NodeType* node = catalog.find_node(offer.provider, offer.instance);
  if (node == nullptr) {
    const std::vector<std::string> known = catalog.instances(offer.provider);
    section.fault("instance", "unknown instance: describe it under [[node]]", join(known),
                  nearest(offer.instance, known));
    return;
  }
  offer.device = node->device;
  offer.gpus_per_node = node->gpus_per_node;
  rows.push_back(std::move(entry));
}

}  // namespace

void read_origin(Section& section, Origin& origin) {
  static const std::array<std::string, 6> kEvidence = {"seen",   "derived",      "memory",
                                                       "fitted", "extrapolated", "judgement"};
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

void add_catalog_toml(Catalog& catalog, std::string_view text, const std::string& name, Diagnostics& faults,
                      std::vector<std::string>& notes) {
  const Document document = parse_toml(text, name, faults);
  Section root(document, document.root, "", faults);
  read_devices(root, catalog);
  read_networks(root, catalog);
  read_nodes(root, catalog);
  for (Section& section : root.sections("model")) read_model(section, catalog);
  read_failure_figures(root, catalog);
  read_egress_prices(root, catalog);
  std::vector<OfferEntry> rows;
  for (Section& section : root.sections("offer")) read_offer(section, catalog, rows);
  root.finish();
  merge_offers(catalog, std::move(rows), faults, notes);
}

}  // namespace trainfront::inputs
