#include <algorithm>

#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {
namespace {

// Query-key pairs of one head of one sequence. A causal mask is aligned at the last key (the last query sees
// all keys); a window lets each query see that many keys at most.
double scored_pairs(const AttentionShape& shape) {
  const double keys = shape.keys;
  if (!shape.causal) return shape.queries * (shape.window > 0 ? std::min(shape.window, keys) : keys);
  const double queries = std::min(shape.queries, keys);
  const double before = keys - queries;  // keys that the first query already sees
  const double window = shape.window > 0 ? std::min(shape.window, keys) : keys;
  const double growing =
      std::clamp(window - before, 0.0, queries);  // queries that see fewer keys than the window
  return std::min(before, window) * growing + growing * growing / 2 + window * (queries - growing);
}

}  // namespace

// Fused attention (FlashAttention, arXiv 2205.14135): the scores never leave the chip, so that time is matrix
// products, the softmax between them, and reading Q, K, V and writing O once.
Timed attention_forward_time(const Device& device, const AttentionShape& shape) {
  const AttentionFit& fit = device.profile.attention;
  const double sequences = shape.batch * shape.heads;
  if (sequences <= 0 || shape.queries <= 0 || shape.keys <= 0) return {0, fit.evidence};
  const double edge_keys = (shape.causal ? 0.5 : 1.0) * fit.half_sequence;
  const double edge = edge_keys * (shape.causal ? std::min(shape.queries, shape.keys) : shape.queries);
  const double work =
      2 * sequences * (scored_pairs(shape) + edge) * (shape.qk_dim + shape.value_dim + 2 * fit.softmax_dims);
  const double bytes = 2 * shape.batch * (shape.qk_dim + shape.value_dim) *
                       (shape.queries * shape.heads + shape.keys * shape.kv_heads);
  return {fit.launch_s + work / fit.flops_per_s + bytes / fit.bytes_per_s, fit.evidence};
}

Timed attention_backward_time(const Device& device, const AttentionShape& shape) {
  const Timed forward = attention_forward_time(device, shape);
  return {device.profile.attention.backward_factor * forward.seconds, forward.evidence};
}

}  // namespace trainfront::costmodel
