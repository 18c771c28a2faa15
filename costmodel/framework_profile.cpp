#include "costmodel/framework_profile.hpp"

#include <array>

namespace trainfront::costmodel {
namespace {

std::array<FrameworkProfile, 3> make_profiles() {
  std::array<FrameworkProfile, 3> profiles;

  // Distributed optimizer with both overlaps on, as NVIDIA's performance recipes run it. Exposed share of
  // tensor parallelism and element-wise scale: read off NVIDIA dgxc-benchmarking tables (H100, v24.11 to
  // v25.05), 2026-11-29. Bucket: Megatron-LM, distributed_data_parallel.py.
  FrameworkProfile& megatron = profiles[0];
  megatron.name = "megatron-2026";
  megatron.framework = Framework::kMegatron;
  megatron.memory_bound_scale = 1.8;
  megatron.loss_passes = 5;
  megatron.accumulation_bytes = 4;
  megatron.gradient_bytes = 4;
  megatron.host_forward_s = 0.1e-3;
  megatron.host_backward_s = 0.2e-3;
  megatron.tensor_parallel_exposed = 0.65;
  megatron.optimizer_extra_s = 10e-3;

  // FSDP2, selective checkpointing "op" saves every other product and attention's output; context parallelism
  // does not balance the causal mask. Read off torchtitan's published tables
  // (benchmarks/llama3_h100_202412_torchtitan.md).
  FrameworkProfile& torchtitan = profiles[1];
  torchtitan.name = "torchtitan-2026";
  torchtitan.framework = Framework::kTorchtitan;
  torchtitan.memory_bound_scale = 2.0;
  torchtitan.accumulation_bytes = 0;
  torchtitan.gradient_bytes = 4;
  torchtitan.host_forward_s = 0.1e-3;
  torchtitan.host_backward_s = 0.2e-3;
  torchtitan.tensor_parallel_exposed = 0.85;
  torchtitan.causal_balanced = false;
  torchtitan.selective_gemm = 0.5;
  torchtitan.selective_attention = 0;
  torchtitan.selective_memory_bound = 1;
  torchtitan.optimizer_extra_s = 10e-3;

  // ZeRO; gradients travel in bf16, at stages 2 and 3 after every micro-batch (DeepSpeed, runtime/zero).
  FrameworkProfile& deepspeed = profiles[2];
  deepspeed.name = "deepspeed-2026";
  deepspeed.framework = Framework::kDeepspeed;
  deepspeed.memory_bound_scale = 2.0;
  deepspeed.accumulation_bytes = 2;
  deepspeed.gradient_bytes = 2;
  deepspeed.host_forward_s = 0.3e-3;
  deepspeed.host_backward_s = 0.6e-3;
  deepspeed.tensor_parallel_exposed = 1;
  deepspeed.context_exchange = ContextExchange::kAllToAll;
  deepspeed.gradient_reduce_hidden = 0;
  deepspeed.parameter_gather_overlaps = false;
  deepspeed.fsdp_exposed = 0.5;
  deepspeed.reduces_every_micro_batch = true;
  deepspeed.bucket_bytes = 5e8 * 2;
  deepspeed.bucket_bytes_per_rank = 0;
  deepspeed.optimizer_extra_s = 10e-3;
  return profiles;
}

const std::array<FrameworkProfile, 3>& table() {
  static const std::array<FrameworkProfile, 3> profiles = make_profiles();
  return profiles;
}

}  // namespace

std::span<const FrameworkProfile> framework_profiles() {
  return table();
}

const FrameworkProfile* find_profile(std::string_view name) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

const FrameworkProfile& default_profile(Framework framework) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.framework == framework) return profile;
  }
  return table().front();
}

}  // namespace trainfront::costmodel
