#include "costmodel/rules_torchtitan.hpp"

#include <algorithm>

namespace trainfront::costmodel {

namespace {

Rule check_pipeline(const Model& model, const Layout& layout) {
  if (!offers_schedule(layout.framework, layout.schedule)) return Rule::kSchedule;
  const bool interleaved = layout.schedule == Schedule::kInterleaved;
  if (interleaved != (layout.vpp > 1) || (interleaved && layout.pp < 2)) return Rule::kInterleaving;
  if (layout.pp == 1) return layout.schedule == Schedule::kGpipe ? Rule::kSchedule : Rule::kNone;
  // Embedding and head weigh one layer each and must fit into one stage.
  if (model.layers + 2 < layout.pp * layout.vpp) return Rule::kLayersByStages;
  if (model.mtp_blocks > 0) return Rule::kLayersByStages;
  return model.tied_embeddings ? Rule::kVocabulary : Rule::kNone;
}

Rule check_sharding(const Layout& layout) {
  if (layout.zero == 0) {
    // Plain replication is applied on its own, without any other dimension.
    if (layout.group_gpus() > 1 || layout.ep > 1) return Rule::kZero;
    return layout.shard_group > 0 ? Rule::kShardGroup : Rule::kNone;
  }
  // FSDP2 keeps weights gathered (reshard never: ZeRO-2) or not (always: ZeRO-3); it always shards gradients.
  // Under a pipeline a stage holds what it gathered from one micro-batch's backward to the next one's
  // forward: resharding would only gather more often (PyTorch, distributed/pipelining/stage.py).
  if (layout.zero != 2 && (layout.zero != 3 || layout.pp > 1)) return Rule::kZero;
  return layout.shard_group % layout.cp == 0 ? Rule::kNone : Rule::kShardGroup;
}

}  // namespace

Rule check_torchtitan_layout(const Model& model, const Recipe& recipe, const Layout& layout) {
  if (model.heads % layout.tp != 0) return Rule::kHeadsByTp;
  if (!model.latent && model.kv_heads % layout.tp != 0) return Rule::kKvHeadsByTp;
  if (const Rule rule = check_pipeline(model, layout); rule != Rule::kNone) return rule;
  if (layout.cp > 1 && (recipe.sequence_length % (2 * layout.cp) != 0 || model.mtp_blocks > 0)) {
    return Rule::kSequenceByCp;
  }
  if (recipe.sequence_length % sequence_multiple(layout) != 0) return Rule::kSequenceByTp;
  if (layout.etp > 1) return Rule::kExpertTensor;
  if (layout.ep > 1 && (!model.is_moe() || model.experts % layout.ep != 0)) return Rule::kExperts;
  return check_sharding(layout);
}

Rule check_torchtitan_batch(const Layout& layout, std::int64_t micro_batches) {
  // torchtitan launches other rounds as well; those of pp micro-batches are what interleaving is timed with.
  if (layout.vpp > 1 && micro_batches % layout.pp != 0) return Rule::kInterleaving;
  // Experts borrow the ranks of shard, cp and tp, never those that replicate.
  const std::int64_t shard =
      layout.shard_group > 0 ? layout.shard_group : std::int64_t{layout.dp} * layout.cp;
  if (layout.ep > 1 && shard * layout.tp % layout.ep != 0) return Rule::kExperts;
  return Rule::kNone;
}

}  // namespace trainfront::costmodel
