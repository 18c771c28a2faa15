#pragma once

#include <vector>

#include "costmodel/framework_profile.hpp"

// What profiles of several frameworks share, and each framework's profiles. Constants are read off published
// training runs, never fitted to one model; each profile names the runs. 2026-11-29.
namespace trainfront::costmodel {

// fp8 under Transformer Engine, a layer's products with their casts over bf16: read off NeMo's runs.
inline constexpr double kTransformerEngineSpeedup = 1.78;

// Chosen in halves of a millisecond on our tables' runs of Megatron-Bridge on H100 and B200 from 26.02.01 on.
inline constexpr double kMoeLayer_s = 8e-3;

// On GB200 and GB300 where nothing is said of graphs, which their recipes use: chosen among 3 to 8 ms on the
// eight runs of 25.11 whose experts have no bias.
inline constexpr double kGraceMoeLayer_s = 6e-3;

// Dropless experts keep the host busy, most of it in PyTorch. Frameworks without MoE runs of their own are
// not taken to be faster.
inline FrameworkProfile with_dropless_experts(FrameworkProfile profile) {
  profile.host_moe_layer_s = kMoeLayer_s;
  profile.host_moe_layer_grace_s = kGraceMoeLayer_s;
  profile.casts_experts_apart = true;
  return profile;
}

// The first of each is what a search assumes when the user names none.
std::vector<FrameworkProfile> megatron_profiles();
std::vector<FrameworkProfile> torchtitan_profiles();
std::vector<FrameworkProfile> deepspeed_profiles();
// NeMo, Megatron-Core and Megatron-Bridge from 2025 on; some of megatron_profiles.
std::vector<FrameworkProfile> megatron_bridge_profiles();

}  // namespace trainfront::costmodel
