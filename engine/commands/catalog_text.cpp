#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "costmodel/parameters.hpp"
#include "engine/commands/catalog_view.hpp"
#include "engine/reports/text_table.hpp"

namespace trainfront::engine {
namespace {

using namespace inputs;

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

// "-" for what is not known.
std::string known(double value, double unit) {
  return value > 0 ? number(value / unit) : "-";
}

std::string count_text(std::int64_t parameters) {
  const double value = static_cast<double>(parameters);
  return value >= 1e9 ? fmt::format("{:.4g} B", value / 1e9) : fmt::format("{:.4g} M", value / 1e6);
}

std::string profile_kind(const DeviceEntry& entry) {
  if (!entry.not_modelled.empty()) return "not modelled";
  return entry.measured ? "measured" : "data sheet";
}

std::string devices_text(const CatalogView& view) {
  TextTable table{{"device", "bf16 TFLOP/s", "fp8", "memory GB", "TB/s", "link GB/s", "domain", "W",
                   "profile", "evidence", "name"},
                  {},
                  {false, true, true, true, true, true, true, true}};
  for (const DeviceEntry* entry : view.devices) {
    const costmodel::Device& device = entry->device;
    table.rows.push_back({device.id, number(device.bf16_flops_per_s / 1e12),
                          known(device.fp8_flops_per_s, 1e12), number(device.memory_bytes / 1e9),
                          number(device.memory_bytes_per_s / 1e12), number(device.link_bytes_per_s / 1e9),
                          std::to_string(entry->domain_gpus), known(device.power_w, 1), profile_kind(*entry),
                          entry->origin.evidence, entry->name});
  }
  return table.str();
}

std::string networks_text(const CatalogView& view) {
  TextTable table{
      {"network", "latency scale", "efficiency", "rdma", "evidence", "name"}, {}, {false, true, true}};
  for (const NetworkEntry* entry : view.networks)
    table.rows.push_back({entry->network.kind, number(entry->network.latency_scale),
                          number(entry->network.efficiency), entry->network.rdma ? "yes" : "no",
                          entry->origin.evidence, entry->name});
  return table.str();
}

std::string nodes_text(const CatalogView& view) {
  TextTable table{
      {"provider", "instance", "device", "GPUs", "domain", "network", "Gb/s per node", "rdma", "evidence"},
      {},
      {false, false, false, true, true, false, true}};
  for (const NodeType* node : view.nodes)
    table.rows.push_back({node->provider.empty() ? "(any)" : node->provider, node->instance, node->device,
                          std::to_string(node->gpus_per_node), std::to_string(node->domain_gpus),
                          node->network.kind,
                          number(node->network.nic_bytes_per_s * 8e-9 * node->gpus_per_node),
                          node->network.rdma ? "yes" : "no", node->origin.evidence});
  return table.str();
}

std::string offers_text(const CatalogView& view) {
  TextTable table{{"provider", "region", "zone", "instance", "device", "GPUs", "price model", "$/node h",
                   "$/GPU h", "as of", "evidence"},
                  {},
                  {false, false, false, false, false, true, false, true, true}};
  for (const OfferEntry* entry : view.offers) {
    const costmodel::Offer& offer = entry->offer;
    table.rows.push_back(
        {offer.provider, offer.region, offer.zone.empty() ? "-" : offer.zone, offer.instance, offer.device,
         std::to_string(offer.gpus_per_node), std::string(price_model_name(offer.price_model)),
         price_text(offer.usd_per_node_hour), price_text(offer.usd_per_node_hour / offer.gpus_per_node),
         offer.as_of.empty() ? "-" : offer.as_of, entry->evidence.empty() ? "-" : entry->evidence});
  }
  return table.str();
}

std::string models_text(const CatalogView& view) {
  TextTable table{
      {"model", "parameters", "active", "layers", "hidden", "heads", "kv", "experts", "vocab", "evidence"},
      {},
      {false, true, true, true, true, true, true, true, true}};
  for (const ModelEntry* entry : view.models) {
    const costmodel::Model& model = entry->model;
    const auto counts = costmodel::count_parameters(model);
    table.rows.push_back(
        {entry->name, count_text(counts.total), count_text(counts.active), std::to_string(model.layers),
         std::to_string(model.hidden), std::to_string(model.heads),
         model.latent ? "latent" : std::to_string(model.kv_heads),
         model.is_moe() ? fmt::format("{} of {}", model.experts_per_token, model.experts) : "-",
         std::to_string(model.vocab), entry->origin.evidence});
  }
  return table.str();
}

std::string failures_text(const Catalog& catalog) {
  TextTable nodes{{"failures per 1000 node-days (8 GPUs)", "low", "base", "high", "node MTBF h", "evidence"},
                  {},
                  {false, true, true, true, true}};
  for (const FailureRate& rate : catalog.failures)
    nodes.rows.push_back(
        {rate.devices.empty() ? "all others" : fmt::format("{}", fmt::join(rate.devices, " ")),
         number(rate.low), number(rate.base), number(rate.high), number(node_mtbf_s(rate.base, 8) / 3600),
         rate.origin.evidence});
  TextTable spot{{"preemptions per node-hour", "low", "base", "high", "nodes together", "evidence"},
                 {},
                 {false, true, true, true, true}};
  for (const SpotRate& rate : catalog.spot)
    spot.rows.push_back({rate.provider.empty() ? "all others" : rate.provider, number(rate.low),
                         number(rate.base), number(rate.high), number(rate.together), rate.origin.evidence});
  TextTable recovery{
      {"recovery (s, bytes/s, share)", "low", "base", "high", "evidence"}, {}, {false, true, true, true}};
  for (const RecoveryFigure& figure : catalog.recovery)
    recovery.rows.push_back(
        {figure.key, number(figure.low), number(figure.base), number(figure.high), figure.origin.evidence});
  return nodes.str() + "\n" + spot.str() + "\n" + recovery.str();
}

std::string egress_text(const CatalogView& view) {
  TextTable table{{"provider", "leaves in a month", "$/GB", "evidence"}, {}, {false, true, true}};
  for (const EgressPrice* price : view.egress)
    for (std::size_t step = 0; step < price->usd_per_byte.size(); ++step) {
      const bool last = step == price->up_to_bytes.size();
      const std::string rest = step == 0 ? "any volume" : "more";
      table.rows.push_back({price->provider,
                            last ? rest : fmt::format("up to {:g} TB", price->up_to_bytes[step] / 1e12),
                            number(price->usd_per_byte[step] * 1e9), price->origin.evidence});
    }
  return table.str();
}

// A single entry is shown with where its figures come from.
std::string origins_text(const CatalogView& view) {
  std::string text;
  const auto add = [&](const std::string& name, const Origin& origin) {
    text += fmt::format("\n{}: {} ({}, {})\n", name, origin.source, origin.as_of, origin.evidence);
  };
  for (const DeviceEntry* entry : view.devices) {
    add(entry->device.id, entry->origin);
    if (!entry->also.empty()) text += fmt::format("also known as {}\n", fmt::join(entry->also, ", "));
    if (!entry->not_modelled.empty()) {
      text += fmt::format("link: {}; cannot be planned with: {}\n", entry->link, entry->not_modelled);
      continue;
    }
    text += fmt::format("link: {}; profile: {}\n", entry->link, entry->device.profile.name);
    for (const std::string& source : entry->device.profile.sources) text += fmt::format("  {}\n", source);
  }
  for (const NetworkEntry* entry : view.networks) add(entry->network.kind, entry->origin);
  for (const NodeType* node : view.nodes) add(node->instance, node->origin);
  for (const OfferEntry* entry : view.offers)
    add(fmt::format("{} {} {}", entry->offer.provider, entry->offer.region,
                    price_model_name(entry->offer.price_model)),
        {entry->offer.source, entry->offer.as_of, entry->evidence});
  for (const ModelEntry* entry : view.models) add(entry->name, entry->origin);
  for (const EgressPrice* price : view.egress) add(price->provider, price->origin);
  return text;
}

// How much there is of everything, and for each device the cheapest price of each price model.
std::string overview_text(const CatalogView& view) {
  std::map<std::string, std::map<costmodel::PriceModel, const OfferEntry*>> cheapest;
  for (const OfferEntry* entry : view.offers) {
    const OfferEntry*& best = cheapest[entry->offer.device][entry->offer.price_model];
    const auto per_gpu = [](const OfferEntry& e) {
      return e.offer.usd_per_node_hour / e.offer.gpus_per_node;
    };
    if (best == nullptr || per_gpu(*entry) < per_gpu(*best)) best = entry;
  }
  TextTable table{{"device", "bf16 TFLOP/s", "memory GB", "offers", "on demand from $/GPU h",
                   "spot from $/GPU h", "profile"},
                  {},
                  {false, true, true, true, true, true}};
  for (const DeviceEntry* entry : view.devices) {
    const std::string& id = entry->device.id;
    const auto from = [&](costmodel::PriceModel price_model) -> std::string {
      const auto at = cheapest[id].find(price_model);
      if (at == cheapest[id].end()) return "-";
      const costmodel::Offer& offer = at->second->offer;
      return fmt::format("{} {}", offer.provider, price_text(offer.usd_per_node_hour / offer.gpus_per_node));
    };
    const auto offers = std::count_if(view.offers.begin(), view.offers.end(),
                                      [&](const OfferEntry* offer) { return offer->offer.device == id; });
    table.rows.push_back({id, number(entry->device.bf16_flops_per_s / 1e12),
                          number(entry->device.memory_bytes / 1e9), std::to_string(offers),
                          from(costmodel::PriceModel::kOnDemand), from(costmodel::PriceModel::kSpot),
                          profile_kind(*entry)});
  }
  return table.str() +
         fmt::format(
             "\n{} devices, {} networks, {} node types, {} offers, {} models.\n"
             "trainfront catalog devices|networks|nodes|offers|models|failures|egress [NAME] shows "
             "them, with sources for one NAME.\n",
             view.devices.size(), view.networks.size(), view.nodes.size(), view.offers.size(),
             view.models.size());
}

}  // namespace

std::string catalog_text(const CatalogView& view) {
  std::string text;
  if (view.what.empty()) text = overview_text(view);
  if (view.what == "devices") text = devices_text(view);
  if (view.what == "networks") text = networks_text(view);
  if (view.what == "nodes") text = nodes_text(view);
  if (view.what == "offers") text = offers_text(view);
  if (view.what == "models") text = models_text(view);
  if (view.what == "failures") text = failures_text(*view.catalog);
  if (view.what == "egress") text = egress_text(view);
  if (view.one) text += origins_text(view);
  return text;
}

}  // namespace trainfront::engine
