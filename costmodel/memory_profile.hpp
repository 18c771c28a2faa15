#pragma once

#include <string>

#include "costmodel/layout.hpp"
#include "costmodel/recipe.hpp"
#include "costmodel/stage_split.hpp"

namespace trainfront::costmodel {

// Bytes per parameter of one kind of state: a part that every rank holds, and a part that shard ranks divide.
struct StateBytes {
  double held = 0;
  double sharded = 0;

  // Per parameter, of a rank that holds `share` of what is sharded.
  double on_rank(double share) const { return held + sharded * share; }
};

// What a framework keeps per parameter.
struct StateRecipe {
  StateBytes weights, gradients, optimizer;
};

// How a framework, at one date, uses memory beyond the model's own shape. Activations are bytes per token of
// a micro-batch (arXiv 2205.05198, section 4, dropout apart); `hidden` terms are split over the
// tensor-parallel group only with sequence parallelism, all others always.
struct MemoryProfile {
  std::string name;
  Framework framework = Framework::kMegatron;
  SplitPolicy split = SplitPolicy::kEven;
  double gradient_share = 1;            // of state_recipe's gradients: 0.5 where fp32 ones are kept in bf16
  double hidden_bytes = 8;              // per hidden: inputs and outputs of the two norms
  double sharded_hidden_bytes = 0;      // per hidden, beyond attention's own tensors
  double gated_ffn_bytes = 6;           // per width: gate, up, product
  double plain_ffn_bytes = 4;           // per width: before and after the activation
  double selective_keeps = 1;           // share of a layer's activations that selective recomputation keeps
  double logit_bytes = 6;               // per entry of the logits
  double accumulation_logit_bytes = 0;  // more of them when micro-batches accumulate
  double transient_hidden = 2;          // whole hidden states gathered or received for a moment
  bool flash_attention = true;          // otherwise scores are kept
  bool keeps_gathered_keys = false;     // all-gather context parallelism: other ranks' keys and values too
  bool dropout = false;
  double context_bytes = 0.75e9;      // CUDA context, workspaces
  double communicator_bytes = 0.5e9;  // of one process group's NCCL buffers
};

const MemoryProfile& default_memory_profile(Framework framework);

// Megatron as NVIDIA's performance recipes run it: gradients summed and reduced in bf16 (NVIDIA/NeMo,
// collections/llm/recipes, pretrain_performance_optimizations: grad_reduce_in_fp32 off; Megatron-Bridge's
// likewise).
const MemoryProfile& nvidia_recipe_memory_profile();

// FSDP with a fused loss, which keeps no fp32 copy of the logits: llm-foundry (FlashAttention's cross
// entropy) and JAX. Its published runs would not have fitted otherwise.
const MemoryProfile& fused_loss_fsdp_memory_profile();

// nanotron of 2024-25, which published the Ultra-Scale Playbook's runs: fitted on the recorded peak memory of
// the half of them that docs/accuracy.md calls dev, 2026-11-29.
const MemoryProfile& nanotron_memory_profile();

// Bytes per parameter by framework and ZeRO stage, bf16 compute. Megatron: 18, or 6 + 12/n with the
// distributed optimizer (Megatron-LM, docs of dist_optimizer); torchtitan: fp32 weights, gradients and
// moments, sharded, and with pipeline stages gradients that stay whole until the last micro-batch; DeepSpeed:
// ZeRO (arXiv 1910.02054) with the 18/n of its own stage-3 estimator.
StateRecipe state_recipe(const Layout& layout, Optimizer optimizer);

}  // namespace trainfront::costmodel
