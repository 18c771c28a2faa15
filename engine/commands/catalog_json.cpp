#include <string>

#include "costmodel/parameters.hpp"
#include "engine/commands/catalog_view.hpp"

namespace trainfront::engine {
namespace {

using namespace inputs;

void write_origin(JsonWriter& json, const Origin& origin) {
  json.field("source", origin.source).field("as_of", origin.as_of).field("evidence", origin.evidence);
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.begin_array(key);
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

// What is not known is null.
void write_known(JsonWriter& json, std::string_view key, double value) {
  json.key(key);
  if (value > 0) {
    json.value(value);
  } else {
    json.null();
  }
}

void write_device(JsonWriter& json, const DeviceEntry& entry) {
  const costmodel::Device& device = entry.device;
  json.begin_object().field("id", device.id).field("name", entry.name);
  write_texts(json, "also", entry.also);
  json.field("architecture", entry.architecture).field("bf16_flops_per_s", device.bf16_flops_per_s);
  write_known(json, "fp8_flops_per_s", device.fp8_flops_per_s);
  json.field("memory_bytes", device.memory_bytes).field("memory_bytes_per_s", device.memory_bytes_per_s);
  json.field("link", entry.link).field("link_bytes_per_s", device.link_bytes_per_s);
  json.field("domain_gpus", entry.domain_gpus);
  write_known(json, "compute_units", device.compute_units);
  write_known(json, "power_w", device.power_w);
  if (entry.not_modelled.empty()) {
    json.begin_object("profile")
        .field("name", device.profile.name)
        .field("kind", entry.measured ? "measured" : "data_sheet");
    write_texts(json, "sources", device.profile.sources);
    json.end_object();
  } else {
    json.key("profile").null();
    json.field("not_modelled", entry.not_modelled);
  }
  write_origin(json, entry.origin);
  json.end_object();
}

void write_network(JsonWriter& json, const costmodel::Network& network) {
  json.field("latency_scale", network.latency_scale)
      .field("efficiency", network.efficiency)
      .field("rdma", network.rdma);
}

void write_node(JsonWriter& json, const NodeType& node) {
  json.begin_object()
      .field("provider", node.provider)
      .field("instance", node.instance)
      .field("device", node.device);
  json.field("gpus_per_node", node.gpus_per_node).field("domain_gpus", node.domain_gpus);
  json.field("network", node.network.kind).field("nics", node.nics);
  json.field("nic_bytes_per_s", node.network.nic_bytes_per_s);
  write_network(json, node.network);
  write_known(json, "host_memory_bytes", node.host_memory_bytes);
  write_known(json, "nvme_bytes", node.nvme_bytes);
  write_origin(json, node.origin);
  json.end_object();
}

void write_offer(JsonWriter& json, const OfferEntry& entry, const Catalog& catalog) {
  const costmodel::Offer& offer = entry.offer;
  const bool spot = offer.price_model == costmodel::PriceModel::kSpot;
  double preemptions = offer.preemptions_per_node_hour;
  double together = offer.preempted_together;
  if (spot && preemptions == 0)
    if (const SpotRate* rate = catalog.find_spot(offer.provider)) {
      preemptions = rate->base;
      together = rate->together;
    }
  json.begin_object()
      .field("provider", offer.provider)
      .field("region", offer.region)
      .field("zone", offer.zone);
  json.field("instance", offer.instance)
      .field("device", offer.device)
      .field("gpus_per_node", offer.gpus_per_node);
  json.field("price_model", price_model_name(offer.price_model))
      .field("usd_per_node_hour", offer.usd_per_node_hour);
  json.field("usd_per_gpu_hour", offer.usd_per_node_hour / offer.gpus_per_node);
  write_known(json, "max_nodes", static_cast<double>(offer.max_nodes));
  json.field("preemptions_per_node_hour", preemptions).field("preempted_together", together);
  json.field("source", offer.source)
      .field("as_of", offer.as_of)
      .field("evidence", entry.evidence)
      .field("note", entry.note);
  json.end_object();
}

void write_model(JsonWriter& json, const ModelEntry& entry) {
  const costmodel::Model& model = entry.model;
  const costmodel::ParameterCounts counts = costmodel::count_parameters(model);
  json.begin_object()
      .field("name", entry.name)
      .field("parameters", counts.total)
      .field("active_parameters", counts.active);
  if (model.mtp_blocks > 0) json.field("mtp_parameters", counts.mtp);
  json.field("layers", model.layers).field("hidden", model.hidden).field("heads", model.heads);
  json.field("kv_heads", model.kv_heads)
      .field("head_dim", model.head_dim)
      .field("ffn", model.ffn)
      .field("gated", model.gated);
  json.field("vocab", model.vocab)
      .field("tied_embeddings", model.tied_embeddings)
      .field("experts", model.experts);
  if (model.is_moe())
    json.field("experts_per_token", model.experts_per_token)
        .field("expert_ffn", model.expert_ffn)
        .field("shared_expert_ffn", model.shared_expert_ffn)
        .field("dense_layers", model.dense_layers);
  if (model.latent)
    json.begin_object("latent")
        .field("q_rank", model.latent->q_rank)
        .field("kv_rank", model.latent->kv_rank)
        .field("nope_dim", model.latent->nope_dim)
        .field("rope_dim", model.latent->rope_dim)
        .field("value_dim", model.latent->value_dim)
        .end_object();
  json.field("sliding_window", model.sliding_window);
  write_origin(json, entry.origin);
  json.end_object();
}

template <typename Entry>
void write_range(JsonWriter& json, const Entry& entry) {
  json.field("low", entry.low).field("base", entry.base).field("high", entry.high);
  write_origin(json, entry.origin);
  json.end_object();
}

void write_failures(JsonWriter& json, const Catalog& catalog) {
  json.begin_object("failures").begin_array("per_1000_node_days_of_8_gpus");
  for (const FailureRate& rate : catalog.failures) {
    json.begin_object();
    write_texts(json, "devices", rate.devices);
    write_range(json, rate);
  }
  json.end_array().begin_array("preemptions_per_node_hour");
  for (const SpotRate& rate : catalog.spot)
    write_range(
        json.begin_object().field("provider", rate.provider).field("preempted_together", rate.together),
        rate);
  json.end_array().begin_array("recovery");
  for (const RecoveryFigure& figure : catalog.recovery)
    write_range(json.begin_object().field("key", figure.key), figure);
  json.end_array().end_object();
}

void write_egress(JsonWriter& json, const EgressPrice& price) {
  constexpr double kBytesPerGb = 1e9;
  json.begin_object().field("provider", price.provider).begin_array("steps");
  for (std::size_t step = 0; step < price.usd_per_byte.size(); ++step) {
    json.begin_object().key("up_to_bytes");
    if (step < price.up_to_bytes.size()) {
      json.value(price.up_to_bytes[step]);
    } else {
      json.null();
    }
    json.field("usd_per_gb", price.usd_per_byte[step] * kBytesPerGb).end_object();
  }
  json.end_array();
  write_origin(json, price.origin);
  json.end_object();
}

}  // namespace

std::string catalog_json(const CatalogView& view) {
  JsonWriter json;
  const auto wanted = [&](std::string_view list) { return view.what.empty() || view.what == list; };
  json.begin_object().field("schema", 1);
  const auto list = [&](std::string_view key, const auto& entries, auto write) {
    if (!wanted(key)) return;
    json.begin_array(key);
    for (const auto* entry : entries) write(json, *entry);
    json.end_array();
  };
  list("devices", view.devices, write_device);
  list("networks", view.networks, [](JsonWriter& out, const NetworkEntry& entry) {
    out.begin_object().field("kind", entry.network.kind).field("name", entry.name);
    write_network(out, entry.network);
    write_origin(out, entry.origin);
    out.end_object();
  });
  list("nodes", view.nodes, write_node);
  list("offers", view.offers,
       [&](JsonWriter& out, const OfferEntry& entry) { write_offer(out, entry, *view.catalog); });
  list("models", view.models, write_model);
  if (view.failures) write_failures(json, *view.catalog);
  list("egress", view.egress, write_egress);
  write_texts(json, "notes", view.notes);
  return json.end_object().take();
}

}  // namespace trainfront::engine
