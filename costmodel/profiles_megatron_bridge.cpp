#include <array>
#include <utility>

#include "costmodel/profile_parts.hpp"

namespace trainfront::costmodel {
namespace {

// NVIDIA NeMo with Transformer Engine, distributed optimizer, gradient and parameter overlap on:
// dgxc-benchmarking tables (github.com/NVIDIA/dgxc-benchmarking, v24.11 to v25.05), H100, bf16 and fp8.
FrameworkProfile nemo_2025() {
  FrameworkProfile profile;
  profile.name = "nemo-2025";
  profile.framework = Framework::kMegatron;
  profile.memory_bound_scale = 1.8;
  profile.attention_backward_factor = 2.9;
  profile.loss_passes = 5;
  profile.accumulation_bytes = 4;
  profile.fp8_speedup = kTransformerEngineSpeedup;
  profile.host_forward_s = 0.1e-3;
  profile.host_backward_s = 0.2e-3;
  profile.tensor_parallel_exposed = 0.65;
  profile.optimizer_extra_s = 10e-3;
  profile.overlap_contention = 0.1;  // the runs are met as well by 0, and worse by more
  return profile;
}

// Where CUDA graphs hold attention besides router and preprocessing: chosen among 1 to 6 ms on the runs of
// 26.02 that say so, and on B200's.
constexpr double kGraphedMoeLayer_s = 4e-3;

// Megatron-Core scales each expert's bias by the token's probability, which is fp32, adds it to the output
// and joins the parts: five kernels forward, seven backward (megatron/core/transformer/moe/experts.py,
// TEGroupedMLP). Bytes that each reads and writes, per element.
FrameworkProfile with_expert_bias(FrameworkProfile profile) {
  profile.expert_bias_forward_bytes = 4 + 10 + 8 + 6;            // product, sum, join, bf16
  profile.expert_bias_backward_bytes = 6 + 6 + 4 + 2 * (8 + 4);  // fp32, bf16, split; two products and sums
  return profile;
}

// Megatron-Core under Megatron-Bridge: its performance summary (NVIDIA-NeMo/Megatron-Bridge,
// docs/performance-summary-archive.md, 26.02.01 to 26.08).
FrameworkProfile megatron_bridge_2026() {
  FrameworkProfile profile = nemo_2025();
  profile.name = "megatron-bridge-2026";
  profile.dispatcher = Dispatcher::kDeduplicated;
  profile.permute_passes = 4;
  profile.has_moe_runs = true;
  profile.fsdp_exposed = 0.1;  // Megatron FSDP, chosen on the page's three runs of 25.11
  return with_expert_bias(with_dropless_experts(profile));
}

// The same page, 25.09 to 26.02.
FrameworkProfile megatron_bridge_2025() {
  FrameworkProfile profile = megatron_bridge_2026();
  profile.name = "megatron-bridge-2025";
  profile.host_moe_layer_s = 10e-3;
  return profile;
}

FrameworkProfile with_expert_overlap(FrameworkProfile profile) {
  profile.name += "-ep-overlap";
  profile.expert_parallel_exposed = 0;
  profile.host_moe_layer_s = 12e-3;
  return profile;
}

// NCCL instead of DeepEP or HybridEP: every copy of a token travels, and is sorted apart from that.
FrameworkProfile with_all_to_all(FrameworkProfile profile) {
  profile.name += "-all-to-all";
  profile.dispatcher = Dispatcher::kAllToAll;
  profile.permute_passes = 8;
  return profile;
}

// Graphs of attention and router leave the experts' own launches to the host, be it a Grace CPU or another.
FrameworkProfile with_cuda_graphs(FrameworkProfile profile) {
  profile.name += "-cuda-graphs";
  profile.host_moe_layer_s = kGraphedMoeLayer_s;
  profile.host_moe_layer_grace_s = 0;
  return profile;
}

// Those of router and preprocessing alone leave what later releases leave without graphs.
FrameworkProfile with_router_graphs(FrameworkProfile profile) {
  profile.name += "-router-graphs";
  profile.host_moe_layer_s = kMoeLayer_s;
  profile.host_moe_layer_grace_s = 0;
  return profile;
}

// A step as one graph has no host in it. Recipes that do so run the experts as one fused kernel, with tokens
// padded by the router (Megatron-Bridge from 26.06 on: cutedsl_fused_grouped_mlp,
// moe_router_padding_for_quantization).
FrameworkProfile with_full_graphs(FrameworkProfile profile) {
  profile = without_host_floor(std::move(profile));
  profile.name += "-full-graphs";
  profile.casts_experts_apart = false;
  return profile;
}

// Megatron-Core as of MoE Parallel Folding (arXiv 2504.14960, tables 3 to 5): bf16, token dropping at
// capacity 1, NCCL all-to-all.
FrameworkProfile megatron_core_2025() {
  FrameworkProfile profile = nemo_2025();
  profile.name = "megatron-core-2025";
  profile.permute_passes = 8;
  profile.casts_experts_apart = true;
  profile.has_moe_runs = true;
  profile.host_moe_layer_s = 5e-3;
  profile.fsdp_exposed = 1;
  return with_expert_bias(profile);
}

// What a search assumes of Megatron when nothing else is said.
FrameworkProfile megatron_2026() {
  FrameworkProfile profile = megatron_bridge_2026();
  profile.name = "megatron-2026";
  return profile;
}

// A release of Megatron-Bridge with all that its runs switch on and off.
void add_variants(std::vector<FrameworkProfile>& profiles, const FrameworkProfile& release) {
  constexpr std::array kGraphs{&with_cuda_graphs, &with_router_graphs, &with_full_graphs};
  const auto add = [&](const FrameworkProfile& profile) {
    profiles.push_back(profile);
    profiles.push_back(with_all_to_all(profile));
  };
  for (const bool overlaps : {false, true}) {
    const FrameworkProfile profile = overlaps ? with_expert_overlap(release) : release;
    add(profile);
    for (const auto with_graphs : kGraphs) add(with_graphs(profile));
  }
}

}  // namespace

std::vector<FrameworkProfile> megatron_bridge_profiles() {
  std::vector<FrameworkProfile> profiles{megatron_2026()};
  add_variants(profiles, megatron_bridge_2026());
  add_variants(profiles, megatron_bridge_2025());
  profiles.push_back(nemo_2025());
  profiles.push_back(megatron_core_2025());
  return profiles;
}

}  // namespace trainfront::costmodel
