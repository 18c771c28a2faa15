#pragma once

#include <string>

#include "costmodel/layout.hpp"

namespace trainfront::costmodel {

// What a training framework, at one date, adds to the kernels' own times: measured on published runs, never on one
// model or paper (docs/accuracy.md). Scales are factors, >= 0.
struct FrameworkProfile {
  std::string name;                      // "megatron-2026"
  Framework framework = Framework::kMegatron;
  double memory_bound_scale = 1.8;       // element-wise time over the fused kernel's own
  double attention_backward_factor = 0;  // 0: the device profile's
  double loss_passes = 5;                // over the fp32 logits
  double accumulation_bytes = 4;         // per parameter and micro-batch, gradient accumulation
  double host_forward_s = 0;             // per layer and micro-batch: the least time the host needs to launch it
  double host_backward_s = 0;
  double host_moe_layer_s = 0;           // per MoE layer and micro-batch, forward and backward together
  double tensor_parallel_exposed = 0.85; // share of TP communication that compute does not hide
  double gradient_reduce_hidden = 1;     // share of the last micro-batch's backward that hides gradient reduction
  bool parameter_gather_overlaps = true; // FSDP/ZeRO-3 prefetch hides gathers
  double bucket_bytes = 40e6 * 4;        // gradient bucket
  double transfer_extra_s = 0;           // per pipeline transfer, beyond the wire
  double optimizer_extra_s = 10e-3;      // per step
};

// The profile used for a framework when the user names no other.
const FrameworkProfile& default_profile(Framework framework);

}  // namespace trainfront::costmodel
