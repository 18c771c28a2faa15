#include <algorithm>
#include <vector>

#include "costmodel/legality.hpp"
#include "costmodel/pipeline_time.hpp"

namespace trainfront::costmodel {

namespace {

constexpr int kNearest = 6;           // values listed at most on one side
constexpr int kLargestDegree = 4096;  // degrees tried

struct Question {
  const Model& model;
  const Recipe& recipe;
  const Layout& layout;
  const Hardware& hardware;
};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

std::string listed(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : ", ") + number(value);
  return text;
}

// The values nearest to `centre`, ascending.
std::vector<int> nearest(const std::vector<int>& ascending, int centre) {
  const auto pivot = std::lower_bound(ascending.begin(), ascending.end(), centre);
  const auto first = ascending.begin() + std::max<std::ptrdiff_t>(0, pivot - ascending.begin() - kNearest);
  const auto last = ascending.begin() +
                    std::min<std::ptrdiff_t>(std::ssize(ascending), pivot - ascending.begin() + kNearest);
  return {first, last};
}

// Values of one degree with which the layout breaks no rule; if there are none, those that do not break
// `rule`.
std::vector<int> legal_degrees(const Question& question, Rule rule, int Layout::*degree) {
  std::vector<int> legal, other_rules_broken;
  Layout layout = question.layout;
  for (int value = 1; value <= kLargestDegree; ++value) {
    layout.*degree = value;
    const Rule verdict = check_layout(question.model, question.recipe, layout, question.hardware);
    if (verdict == Rule::kNone) legal.push_back(value);
    if (verdict != rule) other_rules_broken.push_back(value);
  }
  return nearest(legal.empty() ? other_rules_broken : legal, question.layout.*degree);
}

std::string legal_text(const Question& question, Rule rule, std::string_view name, int Layout::*degree) {
  const std::vector<int> values = legal_degrees(question, rule, degree);
  return "; legal " + std::string(name) + ": " + (values.empty() ? "none" : listed(values));
}

std::string divisors_text(int number_to_divide, std::string_view name) {
  std::vector<int> divisors;
  for (int value = 1; value <= number_to_divide; ++value) {
    if (number_to_divide % value == 0) divisors.push_back(value);
  }
  return "; " + std::string(name) + " may be " + listed(divisors);
}

std::string framework_name(Framework framework) {
  switch (framework) {
    case Framework::kMegatron:
      return "megatron";
    case Framework::kTorchtitan:
      return "torchtitan";
    case Framework::kDeepspeed:
      return "deepspeed";
  }
  return "";
}

std::string schedule_name(Schedule schedule) {
  switch (schedule) {
    case Schedule::kGpipe:
      return "gpipe";
    case Schedule::k1f1b:
      return "1f1b";
    case Schedule::kInterleaved:
      return "interleaved";
    case Schedule::kZeroBubble:
      return "zero_bubble";
  }
  return "";
}

std::string schedules_of(Framework framework) {
  switch (framework) {
    case Framework::kMegatron:
      return "1f1b, interleaved (with vpp > 1)";
    case Framework::kTorchtitan:
      return "gpipe (with pp > 1), 1f1b, interleaved (with vpp > 1)";
    case Framework::kDeepspeed:
      return "1f1b";
  }
  return "";
}

// Nearest global batches that are whole multiples of `unit` sequences.
std::string batches_text(std::int64_t global_batch, std::int64_t unit) {
  if (unit < 1) return "";
  const std::int64_t below = global_batch / unit * unit;
  return "; nearest legal global_batch: " + (below > 0 ? number(below) + ", " : "") + number(below + unit);
}

std::string largest_dp_text(std::int64_t global_batch, const Layout& layout, std::int64_t rounds_unit) {
  const std::int64_t a_replica = layout.micro_batch * rounds_unit;
  if (a_replica < 1 || global_batch % a_replica != 0) return "";
  for (std::int64_t dp = std::min<std::int64_t>(layout.dp, global_batch / a_replica); dp >= 1; --dp) {
    if (global_batch / a_replica % dp == 0) {
      return "; largest legal dp up to " + number(layout.dp) + ": " + number(dp);
    }
  }
  return "";
}

std::string explain_batch(const Layout& layout, std::int64_t global_batch) {
  if (layout.micro_batch < 1) return "micro_batch " + number(layout.micro_batch) + " is less than 1";
  if (global_batch < 1) return "global_batch " + number(global_batch) + " is less than 1";
  const std::int64_t unit = std::int64_t{layout.dp} * layout.micro_batch;
  const std::int64_t rounds = layout.vpp > 1 ? layout.pp : 1;
  return "global_batch " + number(global_batch) + " is not a multiple of dp " + number(layout.dp) +
         " x micro_batch " + number(layout.micro_batch) + " = " + number(unit) +
         batches_text(global_batch, unit * rounds) + largest_dp_text(global_batch, layout, rounds);
}

std::string explain_interleaving(const Question& question, std::int64_t global_batch) {
  const Layout& layout = question.layout;
  if (layout.framework == Framework::kDeepspeed) return "deepspeed has no interleaved stages; legal vpp: 1";
  if (layout.vpp > 1 && layout.pp == 1) {
    return "vpp " + number(layout.vpp) + " needs pp > 1, and pp is 1; legal vpp: 1";
  }
  if ((layout.schedule == Schedule::kInterleaved) != (layout.vpp > 1)) {
    return "schedule " + schedule_name(layout.schedule) + " does not go with vpp " + number(layout.vpp) +
           "; interleaved goes with vpp > 1, and vpp > 1 with interleaved";
  }
  const std::int64_t unit = std::int64_t{layout.dp} * layout.micro_batch;
  if (unit < 1) return "dp or micro_batch is less than 1";
  return "vpp " + number(layout.vpp) + ": " + number(global_batch / unit) +
         " micro-batches do not come in whole groups of pp " + number(layout.pp) +
         (layout.framework == Framework::kTorchtitan ? ", with which interleaving is timed" : "") +
         batches_text(global_batch, unit * layout.pp) + largest_dp_text(global_batch, layout, layout.pp);
}

std::string explain_layers(const Question& question) {
  const Layout& layout = question.layout;
  const int chunks = layout.pp * layout.vpp;
  if (layout.pp > kMaxStages) {
    return "pp " + number(layout.pp) + " is more than the " + number(kMaxStages) +
           " stages that pipelines are timed with" +
           legal_text(question, Rule::kLayersByStages, "pp", &Layout::pp);
  }
  if (layout.framework == Framework::kTorchtitan && question.model.mtp_blocks > 0) {
    return "torchtitan trains multi-token prediction without pipeline stages only; legal pp: 1";
  }
  return number(question.model.layers) + " layers cannot be spread over pp " + number(layout.pp) + " x vpp " +
         number(layout.vpp) + " = " + number(chunks) +
         " chunks, nor with the embedding or the loss counted as layers" +
         legal_text(question, Rule::kLayersByStages, "pp", &Layout::pp) +
         (layout.vpp > 1 ? legal_text(question, Rule::kLayersByStages, "vpp", &Layout::vpp) : "");
}

std::string exchange_name(ContextExchange type) {
  switch (type) {
    case ContextExchange::kRing:
      return "ring";
    case ContextExchange::kAllGather:
      return "all_gather";
    case ContextExchange::kAllToAll:
      return "all_to_all";
    case ContextExchange::kAllToAllRing:
      break;
  }
  return "all_to_all_ring";
}

// The kinds of context parallelism with which the layout breaks no rule.
std::string exchanges_text(const Question& question) {
  using enum ContextExchange;
  std::string names;
  for (const ContextExchange type : {kRing, kAllGather, kAllToAll, kAllToAllRing}) {
    Layout layout = question.layout;
    layout.cp_type = type;
    layout.cp_heads =
        type == kAllToAllRing ? widest_head_exchange(question.model, layout, question.hardware) : 0;
    if (check_layout(question.model, question.recipe, layout, question.hardware) != Rule::kNone) continue;
    names += (names.empty() ? "" : ", ") + exchange_name(type);
  }
  return "; legal cp_type: " + (names.empty() ? "none" : names);
}

std::string explain_context_type(const Question& question) {
  const Layout& layout = question.layout;
  const std::string found = "cp_type " + exchange_name(layout.cp_type);
  const std::string legal = exchanges_text(question);
  if (!offers_exchange(layout.framework, layout.cp_type)) {
    return framework_name(layout.framework) + " does not offer " + found + legal;
  }
  return found +
         (question.model.latent ? " does not go with latent attention"
                                : " does not go with sliding windows") +
         legal;
}

std::string explain_heads_by_cp(const Question& question) {
  const Layout& layout = question.layout;
  const bool apart = layout.cp_type == ContextExchange::kAllToAllRing;
  return number(question.model.heads) + " heads (" + number(question.model.kv_heads) +
         " key-value) over tp " + number(layout.tp) + " cannot be exchanged over " +
         (apart ? "a part of cp " : "cp ") + number(layout.cp) +
         (apart ? " within a scale-up domain" : legal_text(question, Rule::kHeadsByCp, "cp", &Layout::cp)) +
         exchanges_text(question);
}

std::string explain_modules(const Question& question) {
  const Layout& layout = question.layout;
  const std::string found = "recompute_modules " + modules_name(layout.modules);
  if (layout.framework != Framework::kMegatron) {
    return found + ": " + framework_name(layout.framework) + " has none to choose; megatron has";
  }
  if (layout.recompute != Recompute::kSelective) return found + " goes with recompute selective alone";
  std::string effective;
  const RecomputeModules all = effective_modules(question.model);
  for (int i = 0; i < kRecomputeModules; ++i) {
    const auto module = static_cast<RecomputeModule>(i);
    if (all.has(module)) effective += (effective.empty() ? "" : ", ") + std::string(module_name(module));
  }
  return found + ": this model has " + effective + ", and moe stands for moe_act and shared_experts too";
}

std::string explain_sequence(const Question& question, Rule rule) {
  const Layout& layout = question.layout;
  if (layout.framework == Framework::kTorchtitan && layout.cp > 1 && question.model.mtp_blocks > 0) {
    return "torchtitan trains multi-token prediction without context parallelism only; legal cp: 1";
  }
  const int multiple = std::max(1, sequence_multiple(layout));
  const int sequence = question.recipe.sequence_length;
  const int below = sequence / multiple * multiple;
  return "sequence_length " + number(sequence) + " with cp " + number(layout.cp) + ", tp " +
         number(layout.tp) + (layout.sp ? " and sequence parallelism" : "") + " must be a multiple of " +
         number(multiple) + "; nearest: " + (below > 0 ? number(below) + ", " : "") +
         number(below + multiple) +
         (rule == Rule::kSequenceByCp ? legal_text(question, rule, "cp", &Layout::cp)
                                      : legal_text(question, rule, "tp", &Layout::tp));
}

std::string explain_experts(const Question& question) {
  const Layout& layout = question.layout;
  if (!question.model.is_moe()) return "ep " + number(layout.ep) + " on a model without experts; legal ep: 1";
  if (question.model.experts % layout.ep != 0) {
    return number(question.model.experts) + " experts do not divide by ep " + number(layout.ep) +
           divisors_text(question.model.experts, "ep");
  }
  return "the expert grid etp " + number(layout.etp) + " x ep " + number(layout.ep) + " must divide " +
         (layout.framework == Framework::kTorchtitan ? "shard_group x tp, " : "") +
         "tp x cp x dp = " + number(std::int64_t{layout.tp} * layout.cp * layout.dp);
}

std::string explain_expert_tensor(const Question& question) {
  const Layout& layout = question.layout;
  const std::string found = "etp " + number(layout.etp);
  if (!question.model.is_moe()) return found + " on a model without experts; legal etp: 1";
  if (layout.framework != Framework::kMegatron)
    return found + " is not offered by this framework; legal etp: 1";
  if (question.model.expert_bias) return found + ": experts with biases are not split; legal etp: 1";
  return "expert width " + number(question.model.expert_ffn) + " does not divide by " + found +
         divisors_text(question.model.expert_ffn, "etp");
}

std::string explain_zero(const Question& question) {
  const Layout& layout = question.layout;
  std::string found = "zero " + number(layout.zero);
  switch (layout.framework) {
    case Framework::kMegatron:
      return found +
             ": 0 (DDP), 1 (distributed optimizer), and with pp 1 also 2 and 3 (Megatron-FSDP); pp is " +
             number(layout.pp);
    case Framework::kTorchtitan:
      return found +
             ": 2 and, with pp 1, 3 (FSDP2 without and with resharding after forward); 0 for "
             "replication alone; pp is " +
             number(layout.pp);
    case Framework::kDeepspeed:
      return found + ": 0 to 3; with pp > 1 only 0 and 1, with experts not 3";
  }
  return found;
}

std::string explain_shard_group(const Question& question) {
  const Layout& layout = question.layout;
  const std::int64_t replicas = std::int64_t{layout.dp} * layout.cp;
  const std::string found = "shard_group " + number(layout.shard_group);
  if (layout.zero == 0) return found + " with zero 0, which shards nothing; legal: 0";
  if (layout.framework == Framework::kDeepspeed && layout.zero != 3)
    return found + " needs zero 3 (MiCS); legal: 0";
  if (layout.framework == Framework::kTorchtitan && layout.shard_group % layout.cp != 0) {
    return found + " must be a multiple of cp " + number(layout.cp) + ", which FSDP shards over";
  }
  return found + " does not divide dp x cp = " + number(replicas) +
         divisors_text(static_cast<int>(std::min<std::int64_t>(replicas, 1 << 20)), "shard_group");
}

std::string explain_network(const Question& question) {
  return "the network " + question.hardware.network.kind +
         " has no RDMA: tp x cp x pp and etp x ep x pp must fit one node of " +
         number(std::max(question.hardware.gpus_per_node, question.hardware.domain_gpus)) + " GPUs";
}

std::string explain_precision(const Question& question) {
  if (!(question.hardware.device.fp8_flops_per_s > 0)) {
    return "precision fp8 on " + question.hardware.device.id + ", which has no fp8 units; legal: bf16";
  }
  return "precision fp8 is not offered by " + framework_name(question.layout.framework) + "; legal: bf16";
}

std::string reason(Rule rule, const Question& question, std::int64_t global_batch) {
  const Model& model = question.model;
  const Layout& layout = question.layout;
  switch (rule) {
    case Rule::kNone:
      return "";
    case Rule::kGpusNotDivisible:
      return "the GPUs do not divide by tp " + number(layout.tp) + " x cp " + number(layout.cp) + " x pp " +
             number(layout.pp) + " = " + number(layout.group_gpus());
    case Rule::kHeadsByTp:
      return number(model.heads) + " attention heads do not divide by tp " + number(layout.tp) +
             divisors_text(model.heads, "tp") + legal_text(question, rule, "by all rules", &Layout::tp);
    case Rule::kKvHeadsByTp:
      return number(model.kv_heads) + " key-value heads and tp " + number(layout.tp) +
             (layout.framework == Framework::kTorchtitan ? ": tp must divide the heads"
                                                         : ": neither divides the other") +
             legal_text(question, rule, "tp", &Layout::tp);
    case Rule::kHeadsByCp:
      return explain_heads_by_cp(question);
    case Rule::kContextType:
      return explain_context_type(question);
    case Rule::kModules:
      return explain_modules(question);
    case Rule::kLayersByStages:
      return explain_layers(question);
    case Rule::kInterleaving:
      return explain_interleaving(question, global_batch);
    case Rule::kSchedule:
      return framework_name(layout.framework) + " does not offer " + schedule_name(layout.schedule) +
             " at pp " + number(layout.pp) + "; legal: " + schedules_of(layout.framework);
    case Rule::kSequenceByCp:
    case Rule::kSequenceByTp:
      return explain_sequence(question, rule);
    case Rule::kSequenceParallel:
      return layout.framework == Framework::kDeepspeed
                 ? "deepspeed has no sequence parallelism within the tp group; legal sp: false"
                 : "a mixture of experts with tp " + number(layout.tp) +
                       " trains only with sequence parallelism; legal sp: true";
    case Rule::kVocabulary:
      return "tied embeddings are not split over pp " + number(layout.pp) + " stages; legal pp: 1";
    case Rule::kBatch:
      return explain_batch(layout, global_batch);
    case Rule::kExperts:
      return explain_experts(question);
    case Rule::kExpertTensor:
      return explain_expert_tensor(question);
    case Rule::kZero:
      return explain_zero(question);
    case Rule::kShardGroup:
      return explain_shard_group(question);
    case Rule::kPrecision:
      return explain_precision(question);
    case Rule::kNetwork:
      return explain_network(question);
    case Rule::kRedundancy:
      return "r must be at least 1, at most the number of groups, dp " + number(layout.dp) +
             ", and divide it where groups form families";
    case Rule::kStateCoverage:
      return "a lost group would take its part of the optimiser state along: zero " + number(layout.zero) +
             " shards it over all copies; a smaller shard_group keeps copies";
    case Rule::kNodes:
      return "the offer has fewer nodes than the plan needs";
    case Rule::kIslands:
      return "dp " + number(layout.dp) + " or the nodes do not divide over the islands";
    case Rule::kFfnByTp:
      return "MLP width " + number(model.ffn) +
             (model.shared_expert_ffn > 0 ? " or shared expert width " + number(model.shared_expert_ffn)
                                          : "") +
             " does not divide by tp " + number(layout.tp) + legal_text(question, rule, "tp", &Layout::tp);
    case Rule::kHostMemory:
      return "a node's host memory is too small for the copies of its checkpoint and the tokens of stacked "
             "shards; more nodes, another checkpoint_tier or checkpoint = \"sync\" need less";
    case Rule::kLocalDisk:
      return "a node's disk is too small for its part of two checkpoints; more nodes, or checkpoint_tier "
             "\"shared\" or \"peer\", need less";
    case Rule::kDataLoading:
      return "storage_bandwidth or node_storage_bandwidth is too low to read r stacks as fast as the GPUs "
             "could compute them; a smaller r needs less";
  }
  return "";
}

}  // namespace

std::string explain_rule(Rule rule, const Model& model, const Recipe& recipe, const Layout& layout,
                         const Hardware& hardware, std::int64_t global_batch) {
  if (rule == Rule::kNone) return "";
  return std::string(rule_name(rule)) + ": " + reason(rule, {model, recipe, layout, hardware}, global_batch);
}

}  // namespace trainfront::costmodel
