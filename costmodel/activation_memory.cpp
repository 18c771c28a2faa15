#include "costmodel/activation_memory.hpp"

#include <algorithm>

#include "costmodel/operations.hpp"

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

// Copies of a token that a GPU's experts work on, of one token of the tensor-parallel group: its ranks share
// tokens, and expert tensor parallelism gathers etp of them.
double routed_copies(const Model& model, const Recipe& recipe, const Layout& layout) {
  return recipe.expert_imbalance * model.experts_per_token * layout.etp / layout.tp;
}

// Per width of an expert, what Megatron keeps beside its activation's input where that is cut off at a limit:
// the input as cut off.
double clamped_bytes(const Model& model, const Layout& layout) {
  if (!model.expert_clamp || layout.framework != Framework::kMegatron) return 0;
  return model.gated ? 4 : 2;
}

// Bytes per token for the routed experts: dispatched input, hidden widths, and the copy that is sent.
double routed_bytes(const Model& model, const Recipe& recipe, const Layout& layout,
                    const MemoryProfile& profile, bool fp8) {
  const double inner =
      mlp_bytes(model, profile, model.expert_ffn, fp8) + clamped_bytes(model, layout) * model.expert_ffn;
  const double per_assignment = (fp8 ? 1.0 : 2.0) * model.hidden + inner / layout.etp;
  const double sent = fp8 ? 0.0 : 2.0 * model.hidden;
  return recipe.expert_imbalance * model.experts_per_token * (layout.etp * per_assignment + sent) / layout.tp;
}

// Keys and values of the other ranks, per token of one rank.
double gathered_key_bytes(const Model& model, const Layout& layout, const MemoryProfile& profile) {
  if (layout.cp_type != ContextExchange::kAllGather || !profile.keeps_gathered_keys) return 0;
  if (layout.recompute != Recompute::kNone) return 0;  // gathered again
  const double own =
      model.latent ? model.heads * (model.latent->nope_dim + model.latent->rope_dim + model.latent->value_dim)
                   : 2.0 * std::max(model.kv_heads, layout.tp) * model.head_dim;
  return 2 * (layout.cp - 1) * own / layout.tp;
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

// Bytes per token of the parts of a layer that modules may drop.
struct Droppable {
  double scores = 0;
  double norm = 0;  // what one norm puts out
  double mlp = 0, router = 0, shared = 0, routed = 0;
};

// What chosen modules need not keep, per token (recompute_modules.hpp says what each is).
double dropped_bytes(const Model& model, const Recipe& recipe, const Layout& layout, bool fp8, Block block,
                     const Droppable& of) {
  using enum RecomputeModule;
  const RecomputeModules modules = layout.modules;
  double bytes = modules.has(kCoreAttention) ? of.scores : 0;
  if (modules.has(kLayernorm)) bytes += of.norm * ((model.latent ? 1 : 0) + (block == Block::kMoe ? 1 : 0));
  if (modules.has(kLatentUpProjection) && model.latent) {
    const LatentAttention& latent = *model.latent;
    bytes += model.heads * (4.0 * (latent.nope_dim + latent.rope_dim) + 2.0 * latent.value_dim) / layout.tp;
  }
  if (block == Block::kDense) return bytes + (modules.has(kMlp) ? of.mlp + of.norm : 0);
  if (modules.has(kMoe)) return bytes + of.router + of.shared + of.routed;
  if (modules.has(kMoeActivation)) {
    const double per_width = (fp8 ? 1 : 2) + clamped_bytes(model, layout);
    bytes += per_width * routed_copies(model, recipe, layout) * model.expert_ffn / layout.etp;
  }
  return bytes + (modules.has(kSharedExperts) ? of.shared : 0);
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
  const double gathered = gathered_key_bytes(model, layout, profile);
  Droppable parts;
  parts.scores = profile.flash_attention ? 0.0 : 5.0 * model.heads * sequence / layout.cp / layout.tp;
  parts.norm = (fp8 ? 1 : 2) * hidden / hidden_split;
  parts.mlp = mlp_bytes(model, profile, model.ffn, fp8) / layout.tp;
  const double scores = parts.scores * tokens;
  const double input = 2 * hidden / hidden_split * tokens;
  const auto keep = [&](Block block, double all) -> Kept {
    if (layout.recompute != Recompute::kSelective || layout.modules.empty()) {
      return apply_recompute(layout.recompute, profile, all, scores, input);
    }
    const double dropped = dropped_bytes(model, recipe, layout, fp8, block, parts) * tokens;
    return {all - dropped, dropped};
  };

  LayerActivations result;
  const double attention_part = norms + attention + rest + gathered;
  const Kept dense_kept = keep(Block::kDense, (attention_part + parts.mlp) * tokens);
  result.dense_layer = dense_kept.kept;
  result.dense_working = dense_kept.working;
  if (model.is_moe()) {
    parts.router = 8.0 * model.experts / layout.tp;
    parts.shared = mlp_bytes(model, profile, model.shared_expert_ffn, fp8) / layout.tp;
    parts.routed = routed_bytes(model, recipe, layout, profile, fp8);
    const Kept moe_kept =
        keep(Block::kMoe, (attention_part + parts.router + parts.shared + parts.routed) * tokens);
    result.moe_layer = moe_kept.kept;
    result.moe_working = moe_kept.working;
  }
  return result;
}

}  // namespace trainfront::costmodel
