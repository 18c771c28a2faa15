#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/model.hpp"

namespace trainfront::costmodel {

// Parts of a layer that selective recomputation may drop and run again, as Megatron-Core names them
// (--recompute-modules; megatron/core/transformer/transformer_config.py).
enum class RecomputeModule : std::uint8_t {
  kCoreAttention,       // core_attn: scores to context; nothing is saved where attention is fused
  kMoeActivation,       // moe_act: the experts' activation function
  kLayernorm,           // layernorm: norms that are kernels of their own, before latent attention and experts
  kLatentUpProjection,  // mla_up_proj: up-projections and rotary embedding of latent attention
  kMlp,                 // mlp: a dense MLP, with the norm fused into it
  kMoe,                 // moe: router, dispatch, experts, shared experts
  kSharedExperts        // shared_experts
};
inline constexpr int kRecomputeModules = 7;

// A set of them. Empty: what the framework drops under "selective" when nothing is chosen, which on Megatron
// is core attention.
struct RecomputeModules {
  std::uint8_t bits = 0;

  bool empty() const { return bits == 0; }
  bool has(RecomputeModule module) const { return (bits >> static_cast<unsigned>(module) & 1U) != 0; }
  void add(RecomputeModule module) {
    bits = static_cast<std::uint8_t>(bits | 1U << static_cast<unsigned>(module));
  }
  auto operator<=>(const RecomputeModules&) const = default;
};

// Modules that the model has and that change anything: core attention always.
RecomputeModules effective_modules(const Model& model);

// Whether a set says each thing once: no module that the model lacks, none that "moe" runs again anyway.
bool is_plain(RecomputeModules modules, const Model& model);

// All sets that "auto" stands for: the empty one, and every plain one without core attention; ascending.
std::vector<RecomputeModules> plain_sets(const Model& model);

// "core_attn+mlp"; the empty set is "core_attn".
std::string modules_name(RecomputeModules modules);
std::string_view module_name(RecomputeModule module);

// The set of such a text, core attention alone as the empty set; false if a name is unknown or missing.
bool read_modules(std::string_view text, RecomputeModules& modules);

}  // namespace trainfront::costmodel
