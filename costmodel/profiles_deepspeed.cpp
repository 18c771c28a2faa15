#include "costmodel/profile_parts.hpp"

namespace trainfront::costmodel {
namespace {

// ZeRO; gradients travel in bf16, at stages 2 and 3 after every micro-batch (DeepSpeed, runtime/zero); hidden
// states between stages in parts (runtime/pipe/engine.py). No published run with a full layout stands behind
// its scales.
FrameworkProfile deepspeed_2026() {
  FrameworkProfile profile;
  profile.name = "deepspeed-2026";
  profile.framework = Framework::kDeepspeed;
  profile.has_runs = false;
  profile.fp8_speedup = kTransformerEngineSpeedup;
  profile.memory_bound_scale = 2.0;
  profile.accumulation_bytes = 2;
  profile.gradient_bytes = 2;
  profile.host_forward_s = 0.3e-3;
  profile.host_backward_s = 0.6e-3;
  profile.tensor_parallel_exposed = 1;
  profile.scatters_transfers = true;
  profile.context_exchange = ContextExchange::kAllToAll;
  profile.gradient_reduce_hidden = 0;
  profile.sharded_reduce_hidden = 0;
  profile.parameter_gather_overlaps = false;
  profile.fsdp_exposed = 0.5;
  profile.bucket_bytes = 5e8 * 2;
  profile.bucket_bytes_per_rank = 0;
  profile.optimizer_extra_s = 10e-3;
  return with_dropless_experts(profile);
}

// nanotron: the Ultra-Scale Playbook's runs on H100 with EFA
// (huggingface.co/spaces/nanotron/ultrascale-playbook). The host floor with tensor and pipeline parallelism
// over several nodes is as measured, its cause unknown; so are the stalls of 0.6 s a transfer (which blocks
// both ends) that nearly all pipelined runs on 512 GPUs or with 32 tensor ranks show, those on 256 GPUs with
// 32 replicas or more under ZeRO-1, and most of those with 2 to 16 replicas under ZeRO-0 on 32 to 128 GPUs.
// ZeRO-0 without a pipeline loses as much a micro-batch on 512 GPUs, and reduces its gradients at 3 GB/s.
FrameworkProfile nanotron_2025() {
  FrameworkProfile profile;
  profile.name = "nanotron-2025";
  profile.framework = Framework::kDeepspeed;
  profile.memory_bound_scale = 3.0;
  profile.attention_backward_factor = 3.0;
  profile.loss_passes = 5;
  profile.accumulation_bytes = 13;
  profile.host_forward_s = 1.75e-3;
  profile.host_backward_s = 2.7e-3;
  profile.host_by_tensor_s = {0, 0, 0, 0, 8.3e-3, 15.5e-3};
  profile.host_by_tensor_norm = 1.5;
  profile.host_pipelined_s = {0, 8.3e-3, 13e-3, 21.5e-3, 46e-3, 88e-3};
  profile.tensor_parallel_exposed = 1;
  profile.transfer_extra_s = 0.5e-3;
  profile.stalls = {.seconds = 0.6,
                    .from_gpus = 512,
                    .from_tensor_degree = 32,
                    .from_replicas = 32,
                    .sharded_from_gpus = 256,
                    .unsharded_below_replicas = 32,
                    .unsharded_from_gpus = 32,
                    .unsharded_to_gpus = 128,
                    .reduce_s_per_parameter = 1.7e-9};
  profile.split = SplitPolicy::kByCost;
  profile.gradient_reduce_hidden = 0.5;
  profile.sharded_reduce_hidden = 0.05;
  profile.parameter_gather_overlaps = false;
  profile.bucket_bytes = 35e6;  // between 25 MiB of bf16 and of fp32 gradients
  profile.bucket_bytes_per_rank = 0;
  profile.optimizer_extra_s = 20e-3;
  return profile;
}

}  // namespace

std::vector<FrameworkProfile> deepspeed_profiles() {
  return {deepspeed_2026(), nanotron_2025()};
}

}  // namespace trainfront::costmodel
