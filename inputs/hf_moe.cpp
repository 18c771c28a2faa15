#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "inputs/hf_fields.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Model;

void read_mixtral(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.expert_ffn = fields.required("intermediate_size");
  model.experts = fields.required("num_local_experts");
  model.experts_per_token = fields.required("num_experts_per_tok");
  read_hf_window(fields, model, 0, 0);
}

// Layer i (from 0) has experts if decoder_sparse_step divides i + 1 and mlp_only_layers does not list i.
void read_qwen_experts(HfFields& fields, Model& model) {
  model.experts = fields.required("num_experts");
  model.experts_per_token = fields.required("num_experts_per_tok");
  model.expert_ffn = fields.required("moe_intermediate_size");
  model.moe_every = fields.optional("decoder_sparse_step", 1, kMaxLayers, 1);
  const Value* listed = fields.has("mlp_only_layers") ? fields.section().find("mlp_only_layers") : nullptr;
  if (listed != nullptr && !listed->items.empty()) {
    std::vector<std::int64_t> dense;
    for (const Value& item : listed->items) dense.push_back(item.integer);
    std::sort(dense.begin(), dense.end());
    bool leading = model.moe_every == 1;
    for (std::size_t i = 0; i < dense.size(); ++i)
      leading = leading && dense[i] == static_cast<std::int64_t>(i);
    if (!leading) {
      fields.refuse("mlp_only_layers",
                    "lists layers other than the first ones; such a pattern is not modelled");
    } else {
      model.dense_layers = static_cast<int>(std::min<std::size_t>(dense.size(), kMaxLayers));
    }
  }
  if (model.moe_every > 1 || model.dense_layers > 0) model.ffn = fields.required("intermediate_size");
}

void read_qwen2_moe(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.qkv_bias = true;
  read_qwen_experts(fields, model);
  model.shared_expert_ffn = fields.required("shared_expert_intermediate_size");
  fields.note(fmt::format("{}: the gate of the shared expert ({} parameters a layer) is not counted",
                          model.name, model.hidden));
}

void read_qwen3_moe(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.qk_norm = true;
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", false);
  read_qwen_experts(fields, model);
}

// Group-limited routing: without it, or with all groups open, a token's experts lie anywhere.
void read_hf_expert_groups(HfFields& fields, Model& model) {
  const int groups = fields.optional("n_group", 0);
  const int chosen = fields.optional("topk_group", 0);
  if (groups <= 1 || chosen < 1 || chosen >= groups) return;
  if (model.experts % groups != 0) {
    fields.refuse("n_group", fmt::format("{} does not divide {} experts", groups, model.experts));
    return;
  }
  model.expert_groups = groups;
  model.groups_per_token = chosen;
}

// DeepSeek-V2, V3 and what is built like them: latent attention, shared experts, leading dense layers.
void read_deepseek(HfFields& fields, Model& model) {
  model.layers = fields.required("num_hidden_layers", kMaxLayers);
  model.hidden = fields.required("hidden_size");
  model.heads = model.kv_heads = fields.required("num_attention_heads");
  model.vocab = fields.required("vocab_size");
  model.tied_embeddings = fields.flag("tie_word_embeddings", false);
  costmodel::LatentAttention latent;
  latent.q_rank = fields.optional("q_lora_rank", 0);
  latent.kv_rank = fields.required("kv_lora_rank");
  latent.nope_dim = fields.required("qk_nope_head_dim");
  latent.rope_dim = fields.required("qk_rope_head_dim");
  latent.value_dim = fields.required("v_head_dim");
  model.latent = latent;
  if (fields.flag("attention_bias", false))
    fields.refuse("attention_bias", "true is not modelled with latent attention");

  if (!fields.has("n_routed_experts")) {
    model.ffn = fields.required("intermediate_size");
    return;
  }
  model.experts = fields.required("n_routed_experts");
  model.experts_per_token = fields.required("num_experts_per_tok");
  model.expert_ffn = fields.required("moe_intermediate_size");
  read_hf_expert_groups(fields, model);
  model.dense_layers = fields.optional("first_k_dense_replace", 0, kMaxLayers);
  if (model.dense_layers > 0) model.ffn = fields.required("intermediate_size");
  const std::int64_t shared = std::int64_t{fields.optional("n_shared_experts", 0)} * model.expert_ffn;
  if (shared > kMaxWidth) fields.refuse("n_shared_experts", "makes shared experts wider than any model's");
  model.shared_expert_ffn = static_cast<int>(std::min<std::int64_t>(shared, kMaxWidth));
  if (fields.optional("moe_layer_freq", 1, kMaxLayers, 1) != 1)
    fields.refuse("moe_layer_freq", "above 1 is not modelled for this architecture");
  model.mtp_blocks = fields.optional("num_nextn_predict_layers", 0, 64);
}

// The bias that balances the experts' load without an auxiliary loss (arXiv 2412.19437, section 2.1.2).
void read_deepseek_v3(HfFields& fields, Model& model) {
  read_deepseek(fields, model);
  model.router_bias = true;
}

// Sinks, biases everywhere, experts' gates clamped, every other layer windowed (arXiv 2508.10925, section 2).
void read_gpt_oss(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.expert_ffn = fields.required("intermediate_size");
  model.experts = fields.required("num_local_experts");
  model.experts_per_token = fields.required("num_experts_per_tok");
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", true);
  model.router_bias = model.expert_bias = model.expert_clamp = true;
  model.attention_sinks = true;
  read_hf_window(fields, model, 2, -1);
}

// One shared expert as wide as a routed one; dense layers have a width of their own (Llama4TextConfig).
void read_llama4(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", false);
  model.expert_ffn = model.shared_expert_ffn = fields.required("intermediate_size");
  model.experts = fields.required("num_local_experts");
  model.experts_per_token = fields.required("num_experts_per_tok");
  model.moe_every = fields.optional("interleave_moe_layer_step", 1, kMaxLayers, 1);
  if (model.moe_every > 1) model.ffn = fields.required("intermediate_size_mlp");
  if (const int chunk = fields.optional("attention_chunk_size", 0, 1 << 30); chunk > 0)
    fields.note(
        fmt::format("{}: attention in chunks of {} tokens is modelled as full attention", model.name, chunk));
}

}  // namespace

const std::vector<HfFamily>& hf_moe_families() {
  static const std::vector<HfFamily> families = {
      {"deepseek_v2", read_deepseek}, {"deepseek_v3", read_deepseek_v3}, {"gpt_oss", read_gpt_oss},
      {"kimi_k2", read_deepseek_v3},  {"llama4", read_llama4},           {"llama4_text", read_llama4},
      {"mixtral", read_mixtral},      {"qwen2_moe", read_qwen2_moe},     {"qwen3_moe", read_qwen3_moe},
  };
  return families;
}

}  // namespace trainfront::inputs
