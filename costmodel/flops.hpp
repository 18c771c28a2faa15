#pragma once

#include "costmodel/model.hpp"

namespace trainfront::costmodel {

// How much of the score matrix counts as attention FLOPs: all of it (c = 1: PaLM, arXiv 2204.02311, appendix
// B; Megatron until 2024), or the part under the causal mask (c = 0.5: Megatron-LM since). Windowed layers
// count the keys inside their window.
enum class AttentionCount { kFull, kCausal };

// FLOPs that one token costs in training, forward and backward (three times the forward), on the parameters
// it visits. Recomputation apart.
struct TokenFlops {
  double layers = 0;     // matrix products of the blocks, router and experts visited
  double head = 0;       // output projection, tied or not
  double attention = 0;  // scores and their product with the values
  double mtp = 0;        // multi-token-prediction blocks, their attention and head

  double linear() const { return layers + head; }
  double total() const { return layers + head + attention + mtp; }
};
TokenFlops training_flops_per_token(const Model& model, int sequence_length, AttentionCount count);

// FLOPs the hardware executes when the blocks' forward is run twice (full recomputation): 4/3 of blocks and
// attention, the head once (Narayanan et al., arXiv 2104.04473, section 5.1).
double recomputed_flops_per_token(const TokenFlops& flops);

// 6 N + 12 L a d s: the convention that counts every parameter (tables and norms too) and full attention
// (PaLM appendix B; MosaicML llm-foundry; Ultra-Scale Playbook). N is the active count.
double palm_flops_per_token(const Model& model, int sequence_length);

// Model FLOPs utilisation: a fraction of the dense peak. Above 1 the inputs are wrong (a sparse peak, for
// one).
double model_flops_utilization(double flops_per_token, double tokens_per_s_per_gpu, double peak_flops_per_s);

// Blocks that attend to all of the past; the rest see their window.
int full_attention_layers(const Model& model);

}  // namespace trainfront::costmodel
