#include "inputs/model_shape.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace trainfront::inputs {
namespace {

using costmodel::Model;
using costmodel::Norm;

int count(Section& section, std::string_view key, int fallback, int min, int max) {
  return static_cast<int>(section.integer(key, min, max).value_or(fallback));
}

int required(Section& section, std::string_view key, int max) {
  if (section.require(key) == nullptr) return 0;
  return count(section, key, 0, 1, max);
}

void read_latent(Section& section, Model& model) {
  auto table = section.section("latent");
  if (!table) return;
  costmodel::LatentAttention latent;
  latent.q_rank = count(*table, "q_rank", 0, 0, kMaxWidth);
  latent.kv_rank = required(*table, "kv_rank", kMaxWidth);
  latent.nope_dim = required(*table, "nope_dim", kMaxWidth);
  latent.rope_dim = required(*table, "rope_dim", kMaxWidth);
  latent.value_dim = required(*table, "value_dim", kMaxWidth);
  model.latent = latent;
  table->finish();
}

void read_experts(Section& section, Model& model) {
  model.experts = count(section, "experts", 0, 0, kMaxWidth);
  const bool moe = model.experts > 0;
  const auto expert_count = [&](std::string_view key, bool needed, int fallback, int min) {
    if (needed && moe && section.require(key) == nullptr) return fallback;
    if (!moe && section.find(key) != nullptr)
      section.fault(key, "belongs to a model with experts; experts is 0");
    return count(section, key, fallback, min, kMaxWidth);
  };
  model.experts_per_token = expert_count("experts_per_token", true, 0, 1);
  model.expert_ffn = expert_count("expert_ffn", true, 0, 1);
  const int shared = expert_count("shared_experts", false, 0, 0);
  model.dense_layers = expert_count("dense_layers", false, 0, 0);
  model.moe_every = expert_count("moe_every", false, 1, 1);
  // Shared experts are as wide as routed ones unless their width is told.
  const int width = expert_count("shared_expert_ffn", false, model.expert_ffn, 1);
  if (std::int64_t{shared} * width > kMaxWidth) {
    section.fault("shared_experts", "makes shared experts wider than any model's");
  } else {
    model.shared_expert_ffn = shared * width;
  }
  model.expert_groups = expert_count("expert_groups", false, 0, 2);
  model.groups_per_token = expert_count("groups_per_token", false, 0, 1);
  model.router_bias = section.boolean("router_bias").value_or(false);
  model.expert_bias = section.boolean("expert_bias").value_or(false);
  model.expert_clamp = section.boolean("expert_clamp").value_or(false);
}

}  // namespace

Model read_model_shape(Section& section, std::string name) {
  static const std::array<std::string, 2> kNorms{"rms", "layer"};
  Model model;
  model.name = std::move(name);
  model.layers = required(section, "layers", kMaxLayers);
  model.hidden = required(section, "hidden", kMaxWidth);
  model.heads = required(section, "heads", kMaxWidth);
  model.vocab = required(section, "vocab", kMaxWidth);
  model.kv_heads = count(section, "kv_heads", model.heads, 1, kMaxWidth);
  model.gated = section.boolean("gated").value_or(true);
  model.tied_embeddings = section.boolean("tied_embeddings").value_or(false);
  model.learned_positions = count(section, "learned_positions", 0, 0, kMaxWidth);
  read_latent(section, model);
  if (const Value* width = section.find("head_dim")) {
    model.head_dim = count(section, "head_dim", 0, 1, kMaxWidth);
    if (model.latent) section.fault(*width, section.path("head_dim"), "does not apply to latent attention");
  } else if (!model.latent && model.heads > 0 && model.hidden > 0) {
    if (model.hidden % model.heads != 0)
      section.fault("head_dim", fmt::format("is missing, and hidden {} is no multiple of heads {}",
                                            model.hidden, model.heads));
    model.head_dim = model.hidden / model.heads;
  }

  read_experts(section, model);
  const bool has_dense_mlp = !model.is_moe() || model.dense_layers > 0 || model.moe_every > 1;
  model.ffn = has_dense_mlp ? required(section, "ffn", kMaxWidth) : count(section, "ffn", 0, 1, kMaxWidth);

  model.qkv_bias = section.boolean("qkv_bias").value_or(false);
  model.attention_out_bias = section.boolean("attention_out_bias").value_or(false);
  model.mlp_bias = section.boolean("mlp_bias").value_or(false);
  model.lm_head_bias = section.boolean("lm_head_bias").value_or(false);
  model.qk_norm = section.boolean("qk_norm").value_or(false);
  model.attention_sinks = section.boolean("attention_sinks").value_or(false);
  model.norm = section.choice("norm", kNorms).value_or(0) == 0 ? Norm::kRms : Norm::kLayer;
  model.norms_per_layer = count(section, "norms_per_layer", 2, 0, 16);
  model.sliding_window = count(section, "sliding_window", 0, 0, 1 << 30);
  model.full_attention_every =
      count(section, "full_attention_every", model.sliding_window > 0 ? 0 : 1, 0, kMaxLayers);
  model.mtp_blocks = count(section, "mtp_blocks", 0, 0, 64);

  const std::string conflict = shape_conflict(model);
  if (!conflict.empty()) section.fault("", conflict);
  return model;
}

std::string shape_conflict(const Model& model) {
  if (!model.latent && model.kv_heads > 0 && model.heads % model.kv_heads != 0)
    return fmt::format("heads {} is no multiple of kv_heads {}", model.heads, model.kv_heads);
  if (model.experts_per_token > model.experts)
    return fmt::format("a token visits {} experts, but there are {}", model.experts_per_token, model.experts);
  if ((model.expert_groups > 0) != (model.groups_per_token > 0))
    return "expert_groups and groups_per_token limit routing together; one of them is missing";
  if (model.expert_groups > 0 && model.experts % model.expert_groups != 0)
    return fmt::format("{} experts do not split into {} groups", model.experts, model.expert_groups);
  if (model.groups_per_token > model.expert_groups)
    return fmt::format("a token visits {} groups of experts, but there are {}", model.groups_per_token,
                       model.expert_groups);
  if (model.is_moe() && model.dense_layers > model.layers)
    return fmt::format("{} leading dense layers, but {} layers in all", model.dense_layers, model.layers);
  if (model.is_moe() && model.layers > 0 && (model.layers - model.dense_layers) / model.moe_every == 0)
    return fmt::format("none of the {} layers has experts", model.layers);
  return {};
}

}  // namespace trainfront::inputs
