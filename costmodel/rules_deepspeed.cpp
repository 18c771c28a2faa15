#include "costmodel/rules_deepspeed.hpp"

namespace trainfront::costmodel {

namespace {

bool divides_either_way(int a, int b) {
  return a % b == 0 || b % a == 0;
}

Rule check_pipeline(const Model& model, const Layout& layout) {
  if (!offers_schedule(layout.framework, layout.schedule)) return Rule::kSchedule;
  if (layout.vpp > 1) return Rule::kInterleaving;
  if (layout.pp > 1 && model.layers < layout.pp) return Rule::kLayersByStages;
  return Rule::kNone;
}

// Ulysses: every rank of the cp group works on whole sequences of its share of the heads.
Rule check_sequence(const Model& model, const Recipe& recipe, const Layout& layout) {
  if (layout.cp == 1) return Rule::kNone;
  if (model.heads / layout.tp % layout.cp != 0) return Rule::kHeadsByCp;
  if (!model.latent && !divides_either_way(model.kv_heads, layout.cp)) return Rule::kHeadsByCp;
  return recipe.sequence_length % layout.cp != 0 ? Rule::kSequenceByCp : Rule::kNone;
}

Rule check_sharding(const Model& model, const Layout& layout) {
  if (layout.zero < 0 || layout.zero > 3) return Rule::kZero;
  if (layout.pp > 1 && layout.zero >= 2) return Rule::kZero;
  if (model.is_moe() && layout.zero == 3) return Rule::kZero;
  // Smaller shard groups are MiCS, which stage 3 alone has.
  if (layout.shard_group > 0 && layout.zero != 3) return Rule::kShardGroup;
  return Rule::kNone;
}

}  // namespace

Rule check_deepspeed_layout(const Model& model, const Recipe& recipe, const Layout& layout) {
  if (recipe.precision == Precision::kFp8) return Rule::kPrecision;
  if (model.heads % layout.tp != 0) return Rule::kHeadsByTp;
  if (!model.latent && !divides_either_way(model.kv_heads, layout.tp)) return Rule::kKvHeadsByTp;
  if (model.ffn % layout.tp != 0) return Rule::kFfnByTp;
  if (layout.sp && layout.tp > 1) return Rule::kSequenceParallel;
  if (const Rule rule = check_pipeline(model, layout); rule != Rule::kNone) return rule;
  if (const Rule rule = check_sequence(model, recipe, layout); rule != Rule::kNone) return rule;
  if (layout.etp > 1) return Rule::kExpertTensor;
  if (layout.ep > 1 && (!model.is_moe() || model.experts % layout.ep != 0)) return Rule::kExperts;
  return check_sharding(model, layout);
}

}  // namespace trainfront::costmodel
