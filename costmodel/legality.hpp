#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// The rules a framework holds a layout to. kNone: legal. One name a rule; the names go to the output.
enum class Rule : std::uint8_t {
  kNone,
  kGpusNotDivisible,  // gpus % (tp cp pp), or % (etp ep pp)
  kHeadsByTp,
  kKvHeadsByTp,
  kHeadsByCp,         // where heads are exchanged
  kLayersByStages,    // layers over pp * vpp
  kInterleaving,      // vpp > 1 needs pp > 1, the schedule, p2p overlap, micro-batches in groups
  kSchedule,          // schedule not offered by the framework, or without its pipeline
  kSequenceByCp,      // sequence % (2 cp)
  kSequenceByTp,      // sp: sequence / cp % tp
  kSequenceParallel,  // MoE with tp > 1 needs sp
  kVocabulary,
  kBatch,          // global_batch % (dp * micro_batch)
  kExperts,        // experts % ep, expert grid
  kExpertTensor,   // etp
  kZero,           // ZeRO stage with this framework, pipeline or expert grid
  kShardGroup,     // shard group must divide dp * cp
  kPrecision,      // fp8 on a device without it
  kNetwork,        // model parallelism across nodes without RDMA
  kRedundancy,     // r > number of groups, or does not divide it
  kStateCoverage,  // the protection masks a failure but the optimiser state would be lost
  kNodes,          // the offer has fewer nodes
  kIslands,        // dp or the nodes do not divide over the islands
  kFfnByTp,        // MLP width over tp
  kHostMemory,     // copies of checkpoints and stacked input exceed a node's host memory
  kLocalDisk,      // checkpoints on a node's disk exceed it
  kDataLoading,    // storage too slow to feed r stacks
  kContextType,    // cp_type not offered by the framework, or not with this attention
  kModules,        // recompute_modules that the framework, the recomputation or the model does not have
};
inline constexpr int kRules = 29;

// "heads_by_tp", as it stands in the output.
std::string_view rule_name(Rule rule);

// Whether the framework launches the schedule on any pipeline; the rules say on which.
bool offers_schedule(Framework framework, Schedule schedule);

// Whether the framework launches that kind of context parallelism; the rules say for which attention.
bool offers_exchange(Framework framework, ContextExchange type);

// Most ranks of a cp group that can exchange heads where it is not the whole group (kAllToAllRing), all of
// them within one scale-up domain; 0: it cannot.
int widest_head_exchange(const Model& model, const Layout& layout, const Hardware& hardware);

// Rules that do not depend on dp or batch. Some tens of nanoseconds; degrees below 1 break kGpusNotDivisible.
Rule check_layout(const Model& model, const Recipe& recipe, const Layout& layout, const Hardware& hardware);

// Rules that do: layout.dp set, global batch in sequences. Assumes check_layout passed.
Rule check_batch(const Model& model, const Recipe& recipe, const Layout& layout, std::int64_t global_batch);

// The broken rule in words: its name, the values, and the nearest legal values. Empty for a legal layout.
std::string explain_rule(Rule rule, const Model& model, const Recipe& recipe, const Layout& layout,
                         const Hardware& hardware, std::int64_t global_batch);

// Vocabulary rows Megatron holds in memory: padded to a multiple of 128 * tp (Megatron-LM, build_tokenizer).
std::int64_t padded_vocabulary(std::int64_t vocab, int tp);

// Vocabulary rows the framework holds in memory, over all tp ranks: only Megatron pads.
std::int64_t held_vocabulary(const Model& model, const Layout& layout);

// The sequence must be a multiple of this for the layout's cp, and tp with sequence parallelism.
int sequence_multiple(const Layout& layout);

}  // namespace trainfront::costmodel
