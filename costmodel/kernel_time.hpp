#pragma once

#include "costmodel/evidence.hpp"
#include "costmodel/hardware.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Time of one kernel on an otherwise idle device, sustained clocks. All of them are >= 0, finite, and never
// fall when a size grows; 0 when there is nothing to do. They need a profile with positive rates
// (data_sheet_profile gives one).

// C[m,n] = A[m,k] B[k,n].
Timed gemm_time(const Device& device, Precision precision, double m, double n, double k);

// `experts` products [tokens_per_expert, k] x [k, n] in one launch. The busiest expert holds
// tokens_per_expert.
Timed grouped_gemm_time(const Device& device, Precision precision, int experts, double tokens_per_expert,
                        double n, double k);

struct AttentionShape {
  double batch = 1;
  double queries = 0;  // per sequence
  double keys = 0;     // per sequence
  double heads = 0;    // on this device
  double kv_heads = 0;
  double qk_dim = 0;  // per head
  double value_dim = 0;
  bool causal = true;
  double window = 0;  // 0: none
};
Timed attention_forward_time(const Device& device, const AttentionShape& shape);
Timed attention_backward_time(const Device& device, const AttentionShape& shape);

// Kernels that are bound by memory traffic; bytes read plus written.
enum class MemoryBound {
  kNorm,
  kAdd,
  kActivation,
  kRotary,
  kSoftmax,
  kEmbedding,
  kCrossEntropy,
  kOptimizer,
  kPermute,
  kCopy
};
inline constexpr int kMemoryBoundKinds = 10;
Timed memory_bound_time(const Device& device, MemoryBound kind, double bytes);

}  // namespace trainfront::costmodel
