#include "costmodel/rules_megatron.hpp"

#include <algorithm>

#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {

namespace {

// Even, or with the loss, or embedding and loss, counted as a layer each
// (account_for_{embedding,loss}_in_pipeline_split).
bool divides_evenly(int layers, int chunks) {
  return layers % chunks == 0 || (layers + 1) % chunks == 0 || (layers + 2) % chunks == 0;
}

// Layers over chunks: evenly; without interleaving also with shorter first and last stages
// (num_layers_in_{first,last}_pipeline_stage), none of them longer than those between; with it, where no
// number of chunks divides them evenly (DeepSeek-V3's 61 over 8 stages), as a written layout has it
// (pipeline_model_parallel_layout): embedding and loss count as layers, and chunks differ by one. A chunk may
// hold the embedding or the loss alone.
bool can_split_layers(int layers, const Layout& layout) {
  const int chunks = layout.pp * layout.vpp;
  if (divides_evenly(layers, chunks)) return true;
  if (layout.vpp > 1) {
    for (int chunk_count = 2 * layout.pp; chunk_count <= layers + 2; chunk_count += layout.pp) {
      if (divides_evenly(layers, chunk_count)) return false;
    }
    return chunks <= layers + 2;
  }
  const int middle = (layers + layout.pp - 1) / layout.pp;
  return layers - middle * (layout.pp - 2) >= 2;
}

Rule check_pipeline(const Model& model, const Layout& layout) {
  if (!offers_schedule(layout.framework, layout.schedule)) return Rule::kSchedule;
  const bool interleaved = layout.schedule == Schedule::kInterleaved;
  if (interleaved != (layout.vpp > 1)) return Rule::kInterleaving;
  // With overlapped point-to-point communication, Megatron's default under interleaving, pp 2 is enough.
  if (interleaved && layout.pp < 2) return Rule::kInterleaving;
  return can_split_layers(model.layers, layout) ? Rule::kNone : Rule::kLayersByStages;
}

Rule check_tensor_parallel(const Model& model, const Layout& layout) {
  if (model.heads % layout.tp != 0) return Rule::kHeadsByTp;
  if (!model.latent && model.kv_heads % layout.tp != 0 && layout.tp % model.kv_heads != 0)
    return Rule::kKvHeadsByTp;
  const bool has_dense_mlp = !model.is_moe() || moe_layers(model) < model.layers;
  if (has_dense_mlp && model.ffn % layout.tp != 0) return Rule::kFfnByTp;
  if (model.shared_expert_ffn % layout.tp != 0) return Rule::kFfnByTp;
  return Rule::kNone;
}

Rule check_sequence(const Recipe& recipe, const Layout& layout) {
  if (layout.cp > 1 && recipe.sequence_length % (2 * layout.cp) != 0) return Rule::kSequenceByCp;
  if (layout.sp && recipe.sequence_length / layout.cp % layout.tp != 0) return Rule::kSequenceByTp;
  return Rule::kNone;
}

// Transformer Engine (pytorch/attention/dot_product_attention/context_parallel.py): sliding windows go with
// gathered or exchanged heads, latent attention with rings; heads and key-value heads that are exchanged
// divide by the ranks.
Rule check_context(const Model& model, const Layout& layout) {
  if (layout.cp == 1) return Rule::kNone;
  const bool rings =
      layout.cp_type == ContextExchange::kRing || layout.cp_type == ContextExchange::kAllToAllRing;
  if (rings && model.sliding_window > 0) return Rule::kContextType;
  if (!rings && model.latent) return Rule::kContextType;
  if (layout.cp_type == ContextExchange::kAllToAllRing) {
    if (layout.cp_heads <= 1 || layout.cp_heads >= layout.cp) return Rule::kHeadsByCp;
    if (layout.cp % layout.cp_heads != 0) return Rule::kHeadsByCp;
  }
  const int ranks = layout.head_ranks();
  if (model.heads / layout.tp % ranks != 0) return Rule::kHeadsByCp;
  const int kv_heads = model.latent ? model.heads : model.kv_heads;
  return std::max(1, kv_heads / layout.tp) % ranks != 0 ? Rule::kHeadsByCp : Rule::kNone;
}

Rule check_experts(const Model& model, const Layout& layout) {
  if (!model.is_moe()) {
    if (layout.ep > 1) return Rule::kExperts;
    return layout.etp > 1 ? Rule::kExpertTensor : Rule::kNone;
  }
  if (model.experts % layout.ep != 0) return Rule::kExperts;
  if (model.expert_ffn % layout.etp != 0) return Rule::kExpertTensor;
  if (model.expert_bias && layout.etp > 1) return Rule::kExpertTensor;
  if (layout.tp > 1 && !layout.sp) return Rule::kSequenceParallel;
  return Rule::kNone;
}

// 0 and 1 are the plain and the distributed optimizer; 2 and 3 are Megatron-FSDP, which is used without
// pipeline.
Rule check_sharding(const Layout& layout) {
  if (layout.zero < 0 || layout.zero > 3) return Rule::kZero;
  if (layout.zero >= 2 && layout.pp > 1) return Rule::kZero;
  if (layout.zero == 0 && layout.shard_group > 0) return Rule::kShardGroup;
  return Rule::kNone;
}

}  // namespace

Rule check_megatron_layout(const Model& model, const Recipe& recipe, const Layout& layout) {
  if (const Rule rule = check_tensor_parallel(model, layout); rule != Rule::kNone) return rule;
  if (const Rule rule = check_pipeline(model, layout); rule != Rule::kNone) return rule;
  if (const Rule rule = check_sequence(recipe, layout); rule != Rule::kNone) return rule;
  if (const Rule rule = check_context(model, layout); rule != Rule::kNone) return rule;
  if (const Rule rule = check_experts(model, layout); rule != Rule::kNone) return rule;
  return check_sharding(layout);
}

Rule check_megatron_batch(const Layout& layout, std::int64_t micro_batches) {
  return layout.vpp > 1 && micro_batches % layout.pp != 0 ? Rule::kInterleaving : Rule::kNone;
}

}  // namespace trainfront::costmodel
