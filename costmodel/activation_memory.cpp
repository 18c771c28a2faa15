#include "costmodel/activation_memory.hpp"

#include <algorithm>

namespace trainfront::costmodel {

namespace {

// Bytes per token that attention keeps, before splitting over the tensor-parallel group.
double attention_bytes(const Model& model, const Layout& layout, const MemoryProfile& profile,
                       double sequence) {
  const double heads = model.heads;
  const double statistics = profile.flash_attention ? 4 * heads : 5 * heads * sequence / layout.cp;
  if (model.latent) {
    const LatentAttention& latent = *model.latent;
    const double latents = 2.0 * (latent.q_rank + latent.kv_rank);
    const double query_key = latent.nope_dim + latent.rope_dim;
    return 2 * (latents + latent.rope_dim) + heads * (4 * query_key + 4 * latent.value_dim) + statistics;
  }
  // A rank that shares a key-value head keeps a whole one.
  const double kv_heads = std::max<double>(model.kv_heads, layout.tp);
  const double projected = 2.0 * (heads + 2 * kv_heads) * model.head_dim;
  return (model.qk_norm ? 2 * projected : projected) + 2 * heads * model.head_dim + statistics;
}

double mlp_bytes(const Model& model, const MemoryProfile& profile, double width, bool fp8) {
  const double per_width = model.gated ? profile.gated_ffn_bytes : profile.plain_ffn_bytes;
  return (per_width - (fp8 ? 1 : 0)) * width;
}

// Bytes per token for the routed experts: dispatched input, hidden widths, and the copy that is sent.
double routed_bytes(const Model& model, const Recipe& recipe, const Layout& layout,
                    const MemoryProfile& profile, bool fp8) {
  const double per_assignment =
      (fp8 ? 1.0 : 2.0) * model.hidden + mlp_bytes(model, profile, model.expert_ffn, fp8) / layout.etp;
  const double sent = fp8 ? 0.0 : 2.0 * model.hidden;
  // Tokens of the tensor-parallel group are shared among its ranks; expert tensor parallelism gathers etp of
  // them.
  return recipe.expert_imbalance * model.experts_per_token * (layout.etp * per_assignment + sent) / layout.tp;
}

struct Kept {
  double kept = 0;
  double working = 0;
};

Kept apply_recompute(Recompute recompute, const MemoryProfile& profile, double all, double scores,
                     double input) {
  switch (recompute) {
    case Recompute::kNone:
      return {all, 0};
    case Recompute::kSelective: {
      const double kept = std::max(input, profile.selective_keeps * (all - scores));
      return {kept, all - kept};
    }
    case Recompute::kFull:
      return {input, all - input};
  }
  return {all, 0};
}

}  // namespace

LayerActivations layer_activations(const Model& model, const Recipe& recipe, const Layout& layout,
                                   const MemoryProfile& profile) {
  const bool fp8 = recipe.precision == Precision::kFp8 && layout.framework == Framework::kMegatron;
  const double sequence = recipe.sequence_length;
  const double tokens = layout.micro_batch * sequence / layout.cp;
  const double hidden_split = layout.sp ? layout.tp : 1;
  const double hidden = model.hidden;

  // Two masks of one byte outside attention, and one inside, whose share is in the score term's 5 a s.
  const double per_hidden = profile.hidden_bytes - (fp8 ? 2 : 0) + (profile.dropout ? 2 : 0);
  const double norms = per_hidden * hidden / hidden_split;
  const double attention = attention_bytes(model, layout, profile, sequence) / layout.tp;
  const double rest = profile.sharded_hidden_bytes * hidden / layout.tp;
  const double scores =
      profile.flash_attention ? 0.0 : 5.0 * model.heads * sequence / layout.cp / layout.tp * tokens;
  const double input = 2 * hidden / hidden_split * tokens;

  LayerActivations result;
  const double dense =
      (norms + attention + rest + mlp_bytes(model, profile, model.ffn, fp8) / layout.tp) * tokens;
  const Kept dense_kept = apply_recompute(layout.recompute, profile, dense, scores, input);
  result.dense_layer = dense_kept.kept;
  result.dense_working = dense_kept.working;
  if (model.is_moe()) {
    const double router = 8.0 * model.experts / layout.tp;
    const double shared = mlp_bytes(model, profile, model.shared_expert_ffn, fp8) / layout.tp;
    const double moe =
        (norms + attention + rest + router + shared + routed_bytes(model, recipe, layout, profile, fp8)) *
        tokens;
    const Kept moe_kept = apply_recompute(layout.recompute, profile, moe, scores, input);
    result.moe_layer = moe_kept.kept;
    result.moe_working = moe_kept.working;
  }
  return result;
}

}  // namespace trainfront::costmodel
