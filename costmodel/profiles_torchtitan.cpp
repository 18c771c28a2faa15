#include "costmodel/profile_parts.hpp"

namespace trainfront::costmodel {
namespace {

// FlashAttention-2 in the measure of AttentionFit::flops_per_s: 330 to 370 TFLOP/s forward at head dim 128 on
// H100, where FlashAttention-3 reaches 600 and more (arXiv 2407.08608, figure 5).
constexpr double kFlashAttention2Limit = 4.9e14;

// MosaicML llm-foundry, FSDP1 with FlashAttention and ALiBi: its benchmark tables (mosaicml/llm-foundry,
// scripts/train/benchmarking/README.md), A100 and H100. Communication adds to compute.
FrameworkProfile llm_foundry_2024() {
  FrameworkProfile profile;
  profile.name = "llm-foundry-2024";
  profile.framework = Framework::kTorchtitan;
  profile.fp8_speedup = kTransformerEngineSpeedup;
  profile.memory_bound_scale = 1.2;
  profile.attention_scale = 1.7;
  profile.attention_limit = kFlashAttention2Limit;
  profile.loss_passes = 5.5;
  profile.accumulation_bytes = 0;
  profile.gradient_bytes = 2;
  profile.fsdp_exposed = 1;
  profile.optimizer_extra_s = 10e-3;
  profile.reduces_from_zero = 0;
  return profile;
}

// torchtitan, FSDP2 with torch.compile: benchmarks/llama3_h100_202412_torchtitan.md. Selective checkpointing
// "op" saves every other product and attention's output; context parallelism does not balance the causal
// mask.
FrameworkProfile torchtitan_2024() {
  FrameworkProfile profile;
  profile.name = "torchtitan-2024";
  profile.framework = Framework::kTorchtitan;
  profile.attention_limit = kFlashAttention2Limit;
  profile.memory_bound_scale = 2.0;
  profile.fused_projections = false;
  profile.attention_backward_factor = 2.9;
  profile.loss_passes = 5;
  profile.accumulation_bytes = 0;
  profile.host_forward_s = 0.1e-3;
  profile.host_backward_s = 0.2e-3;
  profile.tensor_parallel_exposed = 0.85;
  profile.context_exchange = ContextExchange::kRing;
  profile.causal_balanced = false;
  profile.selective_gemm = 0.5;
  profile.selective_attention = 0;
  profile.selective_memory_bound = 1;
  profile.selective_tensor_parallel = 0.5;
  profile.selective_context_parallel = 0;
  profile.fp8_speedup = 1.75;  // read off its own fp8 rows
  profile.optimizer_extra_s = 10e-3;
  profile.fsdp_exposed = 0.1;
  profile.reduces_from_zero = 0;  // never defers a reduction but under a pipeline
  return profile;
}

FrameworkProfile with_async_tensor_parallel(FrameworkProfile profile) {
  profile.name += "-async-tp";
  profile.tensor_parallel_exposed = 0.4;
  return profile;
}

// Without torch.compile element-wise kernels run one by one: docs/performance.md of 2024-08, A100.
FrameworkProfile torchtitan_eager() {
  FrameworkProfile profile = torchtitan_2024();
  profile.name += "-eager";
  profile.memory_bound_scale = 3.0;
  return profile;
}

// Scaling by rows costs more than fp8 products save: benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md.
FrameworkProfile with_row_scaled_fp8(FrameworkProfile profile) {
  profile.name += "-fp8-rowwise";
  profile.fp8_speedup = 0.8;
  profile.gathers_fp8 = false;
  return profile;
}

FrameworkProfile torchtitan_2026() {
  FrameworkProfile profile = torchtitan_2024();
  profile.name = "torchtitan-2026";
  profile.attention_limit = 0;
  // enable_load_balance (pytorch/pytorch at 0123248, torch/distributed/tensor/experimental/_attention.py).
  profile.causal_balanced = true;
  // FlexAttention alone runs with context parallelism: keys and values are gathered before it, gradients
  // scattered after it (torch/distributed/tensor/experimental/_context_parallel, flex_cp_allgather;
  // torchtitan, distributed/context_parallel). Selective checkpointing does not keep what was gathered.
  profile.context_exchange = ContextExchange::kAllGather;
  profile.keeps_gathered_keys = true;
  profile.selective_context_parallel = 1;
  return with_dropless_experts(profile);
}

// JAX: MaxText and Paxml rows of dgxc-benchmarking. XLA fuses element-wise work. Gathers as long as the
// compute that hides them lengthen it, by the quadratic mean's rule.
FrameworkProfile maxtext_2025() {
  FrameworkProfile profile = torchtitan_2024();
  profile.name = "maxtext-2025";
  profile.fused_projections = true;
  profile.fsdp_exposed = 0;
  profile.fsdp_norm = 2;
  profile.attention_limit = 0;
  profile.memory_bound_scale = 0.8;
  profile.selective_gemm = 0;
  profile.selective_attention = 1;
  profile.selective_memory_bound = 0;
  profile.selective_tensor_parallel = 0;
  profile.selective_context_parallel = 1;
  profile.causal_balanced = true;
  profile.fp8_speedup = 1.9;
  return profile;
}

}  // namespace

std::vector<FrameworkProfile> torchtitan_profiles() {
  return {torchtitan_2026(),
          llm_foundry_2024(),
          torchtitan_2024(),
          torchtitan_eager(),
          with_async_tensor_parallel(torchtitan_2024()),
          with_async_tensor_parallel(torchtitan_eager()),
          with_row_scaled_fp8(torchtitan_2024()),
          with_row_scaled_fp8(with_async_tensor_parallel(torchtitan_2024())),
          maxtext_2025()};
}

}  // namespace trainfront::costmodel
