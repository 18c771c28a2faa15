#include "costmodel/framework_profile.hpp"

#include <array>
#include <utility>
#include <vector>

// Constants are read off published training runs, never fitted to one model; each profile names the runs.
// 2026-11-29.
namespace trainfront::costmodel {
namespace {

// FlashAttention-2 in the measure of AttentionFit::flops_per_s: 330 to 370 TFLOP/s forward at head dim 128 on
// H100, where FlashAttention-3 reaches 600 and more (arXiv 2407.08608, figure 5).
constexpr double kFlashAttention2Limit = 4.9e14;

// fp8 under Transformer Engine, a layer's products with their casts over bf16: read off NeMo's runs.
constexpr double kTransformerEngineSpeedup = 1.78;

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

// Chosen in halves of a millisecond on our tables' runs of Megatron-Bridge on H100 and B200 from 26.02.01 on.
constexpr double kMoeLayer_s = 8e-3;

// Where CUDA graphs hold attention besides router and preprocessing: chosen among 1 to 6 ms on the runs of
// 26.02 that say so, and on B200's.
constexpr double kGraphedMoeLayer_s = 4e-3;

// On GB200 and GB300 where nothing is said of graphs, which their recipes use: chosen among 3 to 8 ms on the
// eight runs of 25.11 whose experts have no bias.
constexpr double kGraceMoeLayer_s = 6e-3;

// Dropless experts keep the host busy, most of it in PyTorch. Frameworks without MoE runs of their own are
// not taken to be faster.
FrameworkProfile with_dropless_experts(FrameworkProfile profile) {
  profile.host_moe_layer_s = kMoeLayer_s;
  profile.host_moe_layer_grace_s = kGraceMoeLayer_s;
  profile.casts_experts_apart = true;
  return profile;
}

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

std::vector<FrameworkProfile> other_profiles() {
  return {nemo_2025(),
          megatron_core_2025(),
          megatron_2023(),
          with_flash_attention(megatron_2023()),
          megatron_2022(),
          megatron_2021(),
          megatron_deepspeed_2023(),
          nanotron_2025(),
          dt_fm_2022(),
          llm_foundry_2024(),
          torchtitan_2024(),
          torchtitan_eager(),
          with_async_tensor_parallel(torchtitan_2024()),
          with_async_tensor_parallel(torchtitan_eager()),
          with_row_scaled_fp8(torchtitan_2024()),
          with_row_scaled_fp8(with_async_tensor_parallel(torchtitan_2024())),
          maxtext_2025()};
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

std::vector<FrameworkProfile> all_profiles() {
  std::vector<FrameworkProfile> profiles{megatron_2026(), torchtitan_2026(), deepspeed_2026()};
  add_variants(profiles, megatron_bridge_2026());
  add_variants(profiles, megatron_bridge_2025());
  for (FrameworkProfile& profile : other_profiles()) profiles.push_back(std::move(profile));
  return profiles;
}

const std::vector<FrameworkProfile>& table() {
  static const std::vector<FrameworkProfile> profiles = all_profiles();
  return profiles;
}

}  // namespace

bool transfers_overlap(const Layout& layout, const FrameworkProfile& profile) {
  if (layout.vpp > 1) return profile.transfer_overlaps;
  return layout.schedule == Schedule::kGpipe && profile.gpipe_transfer_overlaps;
}

FrameworkProfile without_host_floor(FrameworkProfile profile) {
  profile.host_forward_s = profile.host_backward_s = profile.host_moe_layer_s = 0;
  profile.host_moe_layer_grace_s = 0;
  profile.host_micro_batch_s = 0;
  profile.host_by_tensor_s = profile.host_pipelined_s = {};
  return profile;
}

ContextExchange default_exchange(const FrameworkProfile& profile, const Model& model) {
  const bool rings = profile.context_exchange == ContextExchange::kRing;
  const bool megatron = profile.framework == Framework::kMegatron;
  return rings && megatron && model.sliding_window > 0 ? ContextExchange::kAllGather
                                                       : profile.context_exchange;
}

std::span<const FrameworkProfile> framework_profiles() {
  return table();
}

const FrameworkProfile* find_profile(std::string_view name) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

// The first of a framework.
const FrameworkProfile& default_profile(Framework framework) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.framework == framework) return profile;
  }
  return table().front();
}

}  // namespace trainfront::costmodel
