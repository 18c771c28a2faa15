#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {

namespace {

using Count = std::int64_t;

// Parameters of one norm over `width` values: a gain, and for LayerNorm a bias.
Count norm_parameters(const Model& model, Count width) {
  return model.norm == Norm::kLayer ? 2 * width : width;
}

// DeepSeek-V2, arXiv 2405.04434, appendix C: down- and up-projections with a norm on each latent.
Count latent_attention_parameters(const Model& model, const LatentAttention& latent) {
  const Count hidden = model.hidden;
  const Count heads = model.heads;
  const Count query_width = heads * (latent.nope_dim + latent.rope_dim);
  const Count queries = latent.q_rank > 0 ? hidden * latent.q_rank + norm_parameters(model, latent.q_rank) +
                                                latent.q_rank * query_width
                                          : hidden * query_width;
  const Count latents = hidden * (latent.kv_rank + latent.rope_dim) + norm_parameters(model, latent.kv_rank);
  const Count keys_values = Count{latent.kv_rank} * heads * (latent.nope_dim + latent.value_dim);
  const Count output = heads * latent.value_dim * hidden;
  return queries + latents + keys_values + output;
}

Count attention_parameters(const Model& model) {
  const Count hidden = model.hidden;
  const Count query_width = Count{model.heads} * model.head_dim;
  const Count key_width = Count{model.kv_heads} * model.head_dim;
  Count count = model.latent ? latent_attention_parameters(model, *model.latent)
                             : 2 * hidden * query_width + 2 * hidden * key_width;
  if (model.qkv_bias && !model.latent) count += query_width + 2 * key_width;
  if (model.attention_out_bias) count += hidden;
  if (model.qk_norm) count += 2 * norm_parameters(model, model.head_dim);
  if (model.attention_sinks) count += model.heads;
  return count;
}

Count mlp_parameters(const Model& model, Count width, bool bias) {
  const Count up_matrices = model.gated ? 2 : 1;
  Count count = (up_matrices + 1) * model.hidden * width;
  if (bias) count += up_matrices * width + model.hidden;
  return count;
}

}  // namespace

bool is_moe_layer(const Model& model, int layer) {
  return model.is_moe() && layer >= model.dense_layers &&
         (layer - model.dense_layers + 1) % model.moe_every == 0;
}

int moe_layers_before(const Model& model, int layer) {
  if (!model.is_moe() || layer <= model.dense_layers) return 0;
  return (layer - model.dense_layers) / model.moe_every;
}

int moe_layers(const Model& model) {
  return moe_layers_before(model, model.layers);
}

ParameterCounts count_parameters(const Model& model) {
  ParameterCounts counts;
  const Count hidden = model.hidden;
  counts.embedding = (Count{model.vocab} + model.learned_positions) * hidden;
  if (!model.tied_embeddings) counts.lm_head = Count{model.vocab} * hidden;
  if (model.lm_head_bias) counts.lm_head += model.vocab;
  counts.attention = attention_parameters(model);
  counts.norms = model.norms_per_layer * norm_parameters(model, hidden);
  counts.final_norm = norm_parameters(model, hidden);

  const Count moe_blocks = moe_layers(model);
  const Count dense_blocks = model.layers - moe_blocks;
  const Count around_mlp = counts.attention + counts.norms;
  if (dense_blocks > 0) counts.dense_layer = around_mlp + mlp_parameters(model, model.ffn, model.mlp_bias);
  if (model.is_moe()) {
    counts.expert = mlp_parameters(model, model.expert_ffn, model.expert_bias);
    if (model.shared_expert_ffn > 0) {
      counts.shared_experts = mlp_parameters(model, model.shared_expert_ffn, model.expert_bias);
    }
    counts.router = hidden * model.experts + (model.router_bias ? model.experts : 0);
    counts.moe_layer = around_mlp + counts.router + counts.shared_experts + model.experts * counts.expert;
  }

  // Two norms, the projection of (hidden state, next embedding), one block, its own final norm; tables are
  // shared.
  const Count block = model.is_moe() ? counts.moe_layer : counts.dense_layer;
  counts.mtp = model.mtp_blocks * (2 * hidden * hidden + block + 3 * counts.final_norm);

  counts.total = counts.embedding + counts.lm_head + counts.final_norm + dense_blocks * counts.dense_layer +
                 moe_blocks * counts.moe_layer;
  counts.active = counts.total - moe_blocks * (model.experts - model.experts_per_token) * counts.expert;
  return counts;
}

}  // namespace trainfront::costmodel
