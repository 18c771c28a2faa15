#include "costmodel/flops.hpp"

#include <algorithm>

#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {

namespace {

// Weights of the block's matrix products that one token meets in attention.
double attention_weights(const Model& model) {
  const double hidden = model.hidden;
  const double heads = model.heads;
  if (!model.latent) return 2.0 * hidden * model.head_dim * (heads + model.kv_heads);
  const LatentAttention& latent = *model.latent;
  const double query_width = heads * (latent.nope_dim + latent.rope_dim);
  const double queries = latent.q_rank > 0 ? latent.q_rank * (hidden + query_width) : hidden * query_width;
  return queries + hidden * (latent.kv_rank + latent.rope_dim) +
         heads * latent.kv_rank * (latent.nope_dim + latent.value_dim) + heads * latent.value_dim * hidden;
}

double mlp_weights(const Model& model, double width) {
  return (model.gated ? 3.0 : 2.0) * model.hidden * width;
}

double moe_weights(const Model& model) {
  return mlp_weights(model, static_cast<double>(model.experts_per_token) * model.expert_ffn +
                                model.shared_expert_ffn) +
         static_cast<double>(model.hidden) * model.experts;
}

// Mean number of keys a query meets in a layer with the given window (0: none).
double keys_per_query(double sequence, double window, AttentionCount count) {
  const double reach = window > 0 ? std::min(window, sequence) : sequence;
  // Under a causal mask the first `reach` queries see 1, 2, ... keys: mean reach - reach^2 / (2 s).
  return count == AttentionCount::kFull ? reach : reach - reach * reach / (2.0 * sequence);
}

// Forward and backward FLOPs of one token's scores in one layer.
double score_flops(const Model& model, double keys) {
  const double width = model.latent
                           ? model.latent->nope_dim + model.latent->rope_dim + model.latent->value_dim
                           : 2.0 * model.head_dim;
  return 6.0 * model.heads * width * keys;
}

}  // namespace

int full_attention_layers(const Model& model) {
  if (model.sliding_window == 0) return model.layers;
  return model.full_attention_every > 0 ? model.layers / model.full_attention_every : 0;
}

TokenFlops training_flops_per_token(const Model& model, int sequence_length, AttentionCount count) {
  TokenFlops flops;
  const double moe_blocks = moe_layers(model);
  const double dense_blocks = model.layers - moe_blocks;
  const double attention = attention_weights(model);
  flops.layers = 6.0 * (model.layers * attention + dense_blocks * mlp_weights(model, model.ffn));
  if (model.is_moe()) flops.layers += 6.0 * moe_blocks * moe_weights(model);
  flops.head = 6.0 * static_cast<double>(model.hidden) * model.vocab;

  const double sequence = sequence_length;
  const double full = full_attention_layers(model);
  const double full_scores = score_flops(model, keys_per_query(sequence, 0, count));
  flops.attention = full * full_scores;
  if (full < model.layers) {
    flops.attention +=
        (model.layers - full) * score_flops(model, keys_per_query(sequence, model.sliding_window, count));
  }

  const double block = attention + (model.is_moe() ? moe_weights(model) : mlp_weights(model, model.ffn));
  const double projection = 2.0 * model.hidden * model.hidden;
  const double scores = full < model.layers ? flops.attention / model.layers : full_scores;
  flops.mtp = model.mtp_blocks * (6.0 * (block + projection) + flops.head + scores);
  return flops;
}

double recomputed_flops_per_token(const TokenFlops& flops) {
  return (flops.layers + flops.attention) * (4.0 / 3.0) + flops.head + flops.mtp;
}

double palm_flops_per_token(const Model& model, int sequence_length) {
  const double attention = training_flops_per_token(model, sequence_length, AttentionCount::kFull).attention;
  return 6.0 * static_cast<double>(count_parameters(model).active) + attention;
}

double model_flops_utilization(double flops_per_token, double tokens_per_s_per_gpu, double peak_flops_per_s) {
  return flops_per_token * tokens_per_s_per_gpu / peak_flops_per_s;
}

}  // namespace trainfront::costmodel
