#include "costmodel/legality.hpp"

#include <algorithm>
#include <numeric>

#include "costmodel/pipeline_time.hpp"
#include "costmodel/rules_deepspeed.hpp"
#include "costmodel/rules_megatron.hpp"
#include "costmodel/rules_torchtitan.hpp"

namespace trainfront::costmodel {

namespace {

constexpr std::array<std::string_view, kRules> kNames = {
    "none",
    "gpus_not_divisible",
    "heads_by_tp",
    "kv_heads_by_tp",
    "heads_by_cp",
    "layers_by_stages",
    "interleaving",
    "schedule",
    "sequence_by_cp",
    "sequence_by_tp",
    "sequence_parallel",
    "vocabulary",
    "batch",
    "experts",
    "expert_tensor",
    "zero",
    "shard_group",
    "precision",
    "network",
    "redundancy",
    "state_coverage",
    "nodes",
    "islands",
    "ffn_by_tp",
    "host_memory",
    "local_disk",
    "data_loading",
    "cp_type",
    "recompute_modules",
};

bool has_degrees_below_one(const Layout& layout) {
  return layout.tp < 1 || layout.cp < 1 || layout.pp < 1 || layout.vpp < 1 || layout.ep < 1 ||
         layout.etp < 1 || layout.shard_group < 0;
}

bool goes_with(const Layout& layout, const Model& model) {
  return layout.framework == Framework::kMegatron && layout.recompute == Recompute::kSelective &&
         is_plain(layout.modules, model);
}

// Without RDMA only data parallelism may cross nodes; a scale-up domain wider than a node counts as one.
bool crosses_slow_network(const Layout& layout, const Hardware& hardware) {
  if (hardware.network.rdma) return false;
  const std::int64_t reach = std::max(hardware.gpus_per_node, hardware.domain_gpus);
  return std::int64_t{layout.tp} * layout.cp * layout.pp > reach ||
         std::int64_t{layout.etp} * layout.ep * layout.pp > reach;
}

}  // namespace

std::string_view rule_name(Rule rule) {
  return kNames[static_cast<std::size_t>(rule)];
}

bool offers_schedule(Framework framework, Schedule schedule) {
  switch (framework) {
    case Framework::kMegatron:
      return schedule == Schedule::k1f1b || schedule == Schedule::kInterleaved;
    case Framework::kTorchtitan:
      return schedule != Schedule::kZeroBubble;
    case Framework::kDeepspeed:
      return schedule == Schedule::k1f1b;
  }
  return false;
}

bool offers_exchange(Framework framework, ContextExchange type) {
  switch (framework) {
    case Framework::kMegatron:
      return true;
    case Framework::kTorchtitan:
      return type == ContextExchange::kRing || type == ContextExchange::kAllGather;
    case Framework::kDeepspeed:
      return type == ContextExchange::kAllToAll;
  }
  return false;
}

int widest_head_exchange(const Model& model, const Layout& layout, const Hardware& hardware) {
  const int kv_heads = model.latent ? model.heads : model.kv_heads;
  const int common =
      std::gcd(layout.cp, std::gcd(model.heads / layout.tp, std::max(1, kv_heads / layout.tp)));
  int ranks = std::min({common, layout.cp / 2, hardware.domain_gpus / layout.tp});
  while (ranks > 1 && common % ranks != 0) --ranks;
  return ranks > 1 ? ranks : 0;
}

Rule check_layout(const Model& model, const Recipe& recipe, const Layout& layout, const Hardware& hardware) {
  if (has_degrees_below_one(layout)) return Rule::kGpusNotDivisible;
  if (layout.micro_batch < 1) return Rule::kBatch;
  if (layout.cp > 1 && !offers_exchange(layout.framework, layout.cp_type)) return Rule::kContextType;
  if (layout.pp > kMaxStages) return Rule::kLayersByStages;
  if (recipe.precision == Precision::kFp8 && !(hardware.device.fp8_flops_per_s > 0)) return Rule::kPrecision;
  if (crosses_slow_network(layout, hardware)) return Rule::kNetwork;
  if (!layout.modules.empty() && !goes_with(layout, model)) return Rule::kModules;
  switch (layout.framework) {
    case Framework::kMegatron:
      return check_megatron_layout(model, recipe, layout);
    case Framework::kTorchtitan:
      return check_torchtitan_layout(model, recipe, layout);
    case Framework::kDeepspeed:
      return check_deepspeed_layout(model, recipe, layout);
  }
  return Rule::kNone;
}

Rule check_batch(const Model& model, const Recipe&, const Layout& layout, std::int64_t global_batch) {
  if (layout.dp < 1) return Rule::kGpusNotDivisible;
  const std::int64_t sequences_at_once = std::int64_t{layout.dp} * layout.micro_batch;
  if (global_batch < 1 || global_batch % sequences_at_once != 0) return Rule::kBatch;
  const std::int64_t replicas = std::int64_t{layout.dp} * layout.cp;
  if (layout.shard_group > 0 && replicas % layout.shard_group != 0) return Rule::kShardGroup;
  // The expert grid covers the same ranks of a stage as the dense one.
  if (model.is_moe() && replicas * layout.tp % (std::int64_t{layout.etp} * layout.ep) != 0)
    return Rule::kExperts;
  const std::int64_t rounds = global_batch / sequences_at_once;
  switch (layout.framework) {
    case Framework::kMegatron:
      return check_megatron_batch(layout, rounds);
    case Framework::kTorchtitan:
      return check_torchtitan_batch(layout, rounds);
    case Framework::kDeepspeed:
      return Rule::kNone;
  }
  return Rule::kNone;
}

std::int64_t padded_vocabulary(std::int64_t vocab, int tp) {
  const std::int64_t multiple = std::int64_t{128} * tp;
  return (vocab + multiple - 1) / multiple * multiple;
}

std::int64_t held_vocabulary(const Model& model, const Layout& layout) {
  return layout.framework == Framework::kMegatron ? padded_vocabulary(model.vocab, layout.tp) : model.vocab;
}

int sequence_multiple(const Layout& layout) {
  const int by_tensor = layout.sp ? layout.tp : 1;
  switch (layout.framework) {
    case Framework::kMegatron:
      return layout.cp > 1 ? std::lcm(2 * layout.cp, layout.cp * by_tensor) : by_tensor;
    case Framework::kTorchtitan:
      return by_tensor * (layout.cp > 1 ? 2 * layout.cp : 1);
    case Framework::kDeepspeed:
      return layout.cp;
  }
  return 1;
}

}  // namespace trainfront::costmodel
