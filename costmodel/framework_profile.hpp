#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"

namespace trainfront::costmodel {

// Which transformer layers a pipeline stage gets (stage_split.hpp). kEven: the same number each as far as it
// can be; kByCost: a new stage begins when the cumulative cost passes its share (nanotron).
enum class SplitPolicy : std::uint8_t { kEven, kByCost };

// How tokens reach their experts. kAllToAll: every copy of a token travels (NCCL); kDeduplicated: one copy a
// node, then one a GPU (DeepEP, github.com/deepseek-ai/DeepEP; HybridEP).
enum class Dispatcher : std::uint8_t { kAllToAll, kDeduplicated };

// The least time, forward and backward together, that a host needs for one layer and micro-batch, by
// tensor-parallel degree 1, 2, 4, 8, 16, 32: an effect seen in one framework only. 0: none.
using HostByTensorDegree = std::array<double, 6>;

// What blocking operations across nodes lose on large runs; as measured, cause unknown. 0: never.
struct Stalls {
  double seconds = 0;  // per pipeline transfer where a pipelined run stalls
  // It does from so many GPUs or tensor ranks on, with sharding (ZeRO-1 and more) and so many replicas from
  // fewer GPUs on, and without sharding with 2 replicas to below so many on a range of GPUs.
  int from_gpus = 0;
  int from_tensor_degree = 0;
  int from_replicas = 0;
  int sharded_from_gpus = 0;
  int unsharded_below_replicas = 0;
  int unsharded_from_gpus = 0;
  int unsharded_to_gpus = 0;
  // Unsharded runs without a pipeline on from_gpus GPUs and from_replicas replicas lose the same once a
  // micro-batch, twice where tensor parallelism spans nodes, and this per parameter that a GPU reduces.
  double reduce_s_per_parameter = 0;
};

// What a training framework, at one date, adds to the kernels' own times: measured on published runs, never
// on one model or paper (docs/accuracy.md). Scales and shares are factors, >= 0.
struct FrameworkProfile {
  std::string name;  // "megatron-2026"
  Framework framework = Framework::kMegatron;
  bool has_runs = true;       // published runs stand behind its constants; else answers are extrapolated
  bool has_moe_runs = false;  // the same of mixtures of experts

  // Kernels.
  double memory_bound_scale = 1.8;  // element-wise time over the fused kernel's own
  // Queries, keys and values come from one product, gate and up from another; false: from products of their
  // own, whose input gradients are then summed.
  bool fused_projections = true;
  bool fused_attention = true;  // false: scores are written to memory
  double score_bytes = 9;  // per score, forward, when they are (softmax, mask, dropout); half more backward
  double attention_backward_factor = 0;  // backward over forward; 0: the device profile's
  double attention_scale = 1;            // attention time over the device profile's kernel
  double attention_limit = 0;     // AttentionFit::flops_per_s that the kernel reaches at most; 0: no limit
  double loss_passes = 5;         // over the fp32 logits, forward and backward
  double accumulation_bytes = 4;  // per parameter and micro-batch, gradient accumulation
  double fp8_speedup = 0;  // of a layer's products over bf16, casts included; 0: the device profile's fp8
  double optimizer_bytes = 30;       // moved per local parameter
  double optimizer_extra_s = 10e-3;  // per step

  // Host.
  double host_forward_s = 0;  // per layer and micro-batch: the least time the host needs to launch it
  double host_backward_s = 0;
  double host_moe_layer_s = 0;            // per MoE layer and micro-batch, forward and backward together
  double host_moe_layer_grace_s = 0;      // the same on Grace hosts (has_grace_host); 0: no other
  double host_moe_norm = 3;               // q of such a layer = (gpu^q + host^q)^(1/q); 0: the larger of both
  double host_norm = 0;                   // the same of any other layer
  double host_micro_batch_s = 0;          // per stage and micro-batch, on top
  HostByTensorDegree host_by_tensor_s{};  // replaces host_forward_s + host_backward_s where larger
  double host_by_tensor_norm = 0;         // host_norm where host_by_tensor_s is the floor
  HostByTensorDegree host_pipelined_s{};  // the same with pp > 1 over several nodes

  // Model-parallel communication.
  double tensor_parallel_exposed = 0.85;  // share of TP communication that compute does not hide
  // fp8 with sequence parallelism: what a linear takes in, and its output's gradient, are cast before they
  // are gathered (Transformer Engine, module/layernorm_linear.py and linear.py; torchao with one scale a
  // tensor). Latent projections are taken to travel in bf16.
  bool gathers_fp8 = true;
  double expert_parallel_exposed = 1;  // share of dispatch and combine that compute does not hide
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  double permute_passes = 8;  // over a GPU's routed tokens, forward; as many again backward
  // What adding a bias to the experts' outputs moves, per element of them, as kernels of its own.
  double expert_bias_forward_bytes = 0;
  double expert_bias_backward_bytes = 0;
  // fp8: kernels of their own pad each expert's tokens to what such products ask for and cast what they
  // multiply; false: fused into the products.
  bool casts_experts_apart = false;
  double expert_imbalance = 1;                                // tokens of the busiest expert over the mean
  ContextExchange context_exchange = ContextExchange::kRing;  // unless the layout is told otherwise
  bool keeps_gathered_keys = false;  // for the backward pass, which gathers them again otherwise
  bool causal_balanced =
      true;  // zigzag split of the sequence; false: the last rank does (2cp-1)/cp of the mean
  bool transfer_overlaps = true;  // pipeline transfers run beside compute when interleaved
  double transfer_extra_s = 0;    // per pipeline transfer, beyond the wire
  // Without sequence parallelism a tensor-parallel rank sends its part of the hidden states, and the next
  // stage gathers them (arXiv 2104.04473, section 4.1); false: every rank sends all of them.
  bool scatters_transfers = false;
  bool gpipe_transfer_overlaps = false;  // the same under GPipe: a link works while both its ends compute
  Stalls stalls = {};
  SplitPolicy split = SplitPolicy::kEven;

  // What "selective" recomputes of a layer's forward, by kind of work.
  double selective_gemm = 0;
  double selective_attention = 1;
  double selective_memory_bound = 0;
  double selective_tensor_parallel = 0;  // 0.5: gathers are repeated, reduced outputs are kept
  double selective_context_parallel = 1;

  // Data parallelism.
  double gradient_bytes = 4;  // per parameter, on the wire
  // Seconds that compute loses per second of communication hidden under it: NCCL's kernels hold
  // multiprocessors and memory bandwidth meanwhile.
  double overlap_contention = 0;
  double gradient_reduce_hidden =
      1;                             // share of the last micro-batch's backward that hides gradient reduction
  double sharded_reduce_hidden = 1;  // the same under ZeRO-1 and 2
  bool parameter_gather_overlaps = true;  // ZeRO-1's gathers run under the next forward
  double fsdp_exposed = 0;                // ZeRO-3: share of gathers and scatters that prefetch fails to hide
  double fsdp_norm = 0;  // the rest beside compute: (gather^q + compute^q)^(1/q); 0: the larger of both
  // ZeRO stage from which gradients are reduced with every micro-batch, where there is no pipeline, not once
  // a step: what is held sharded must be.
  int reduces_from_zero = 2;
  double bucket_bytes = 40e6 * 4;          // gradient bucket
  double bucket_bytes_per_rank = 1e6 * 4;  // a bucket holds at least this times the data-parallel ranks
};

// Whether pipeline transfers run beside compute under the layout's schedule.
bool transfers_overlap(const Layout& layout, const FrameworkProfile& profile);

// Published runs of that kind of model stand behind the profile.
inline bool has_runs_for(const FrameworkProfile& profile, bool is_moe) {
  return profile.has_runs && (profile.has_moe_runs || !is_moe);
}

// How the profile's framework exchanges keys when nothing is said. Transformer Engine's ring has no sliding
// windows (attention/dot_product_attention/context_parallel.py): models with them are taken to gather.
ContextExchange default_exchange(const FrameworkProfile& profile, const Model& model);

// The profile used for a framework when the user names no other. A search prices a layer once for all pp and
// dp, and a layout once for all dp: of these profiles the host's floor depends on neither, and none stalls.
const FrameworkProfile& default_profile(Framework framework);

// The same framework with a host that is never late: what its software converges on.
FrameworkProfile without_host_floor(FrameworkProfile profile);

// All shipped profiles; the one of a name, or null.
std::span<const FrameworkProfile> framework_profiles();
const FrameworkProfile* find_profile(std::string_view name);

}  // namespace trainfront::costmodel
