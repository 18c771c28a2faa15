#include "costmodel/profile_parts.hpp"

namespace trainfront::costmodel {
namespace {

// Megatron-LM before fused attention: Narayanan et al. (arXiv 2104.04473), Korthikanti et al. (arXiv
// 2205.05198). Gradients are reduced after the last backward, in fp16. From April 2021 on hidden states
// travel in parts.
FrameworkProfile megatron_2022() {
  FrameworkProfile profile;
  profile.name = "megatron-2022";
  profile.framework = Framework::kMegatron;
  profile.memory_bound_scale = 1;
  profile.fused_attention = false;
  profile.loss_passes = 4;
  profile.accumulation_bytes = 2;
  profile.gradient_bytes = 2;
  profile.tensor_parallel_exposed = 0.9;
  profile.scatters_transfers = true;
  profile.gradient_reduce_hidden = 0;
  profile.sharded_reduce_hidden = 0;
  profile.parameter_gather_overlaps = false;
  profile.optimizer_extra_s = 10e-3;
  return profile;
}

// Before that: January's README table of 2021 (Megatron-LM, 2020-12 to 2021-04).
FrameworkProfile megatron_2021() {
  FrameworkProfile profile = megatron_2022();
  profile.name = "megatron-2021";
  profile.scatters_transfers = false;
  return profile;
}

// Megatron-LM forks on A100: zero-bubble paper (arXiv 2401.10241, tables 4 and 8). The memory that its runs
// print is that of scores and dropout masks kept: FlashAttention was there, but had to be asked for. All else
// is the year before's, read off other runs, but that gradients are summed in fp32.
FrameworkProfile megatron_2023() {
  FrameworkProfile profile = megatron_2022();
  profile.name = "megatron-2023";
  profile.accumulation_bytes = 4;
  return profile;
}

FrameworkProfile with_flash_attention(FrameworkProfile profile) {
  profile.name += "-flash";
  profile.has_runs = false;
  profile.fused_attention = true;
  profile.attention_backward_factor = 2.9;
  return profile;
}

// Megatron-DeepSpeed with full recomputation: vTrain's measured single-node runs (VIA-Research/vTrain,
// data/ground_truth_single.csv). DeepSpeed's pipelines send hidden states in parts (runtime/pipe/engine.py,
// is_pipe_partitioned), which inside a node hardly tells.
FrameworkProfile megatron_deepspeed_2023() {
  FrameworkProfile profile = megatron_2022();
  profile.name = "megatron-deepspeed-2023";
  profile.memory_bound_scale = 0.5;
  profile.loss_passes = 5;
  profile.host_forward_s = 0.55e-3;
  profile.host_backward_s = 2.05e-3;
  profile.host_norm = 6;
  profile.host_by_tensor_s = {0, 0, 0, 3.4e-3, 0, 0};
  profile.host_by_tensor_norm = 6;
  profile.host_micro_batch_s = 1.5e-3;
  return profile;
}

// DT-FM (arXiv 2206.01288): GPipe over a slow network, sends on streams of their own, attention that is not
// fused, everything recomputed: its published runs on V100 (github.com/DS3Lab/DT-FM, 2022-04).
FrameworkProfile dt_fm_2022() {
  FrameworkProfile profile = megatron_2022();
  profile.name = "dt-fm-2022";
  profile.memory_bound_scale = 3;
  profile.gpipe_transfer_overlaps = true;
  profile.optimizer_extra_s = 1.2;
  return profile;
}

}  // namespace

std::vector<FrameworkProfile> megatron_profiles() {
  std::vector<FrameworkProfile> profiles = megatron_bridge_profiles();
  profiles.insert(profiles.end(), {megatron_2023(), with_flash_attention(megatron_2023()), megatron_2022(),
                                   megatron_2021(), megatron_deepspeed_2023(), dt_fm_2022()});
  return profiles;
}

}  // namespace trainfront::costmodel
