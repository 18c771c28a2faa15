#include <algorithm>
#include <cmath>

#include "costmodel/attention_form.hpp"

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

// The same with the keys that tiles at the mask's edge score in vain.
double counted_pairs(const AttentionFit& fit, const AttentionShape& shape) {
  if (!shape.causal) return scored_pairs(shape) + fit.half_sequence * shape.queries;
  return scored_pairs(shape) + fit.half_sequence / 2 * std::min(shape.queries, shape.keys);
}

double causal_work(const AttentionFit& fit, double sequence, double heads, double head_dim) {
  return heads * sequence * (sequence + fit.half_sequence) * (2 * head_dim + 2 * fit.softmax_dims);
}

bool is_empty(const AttentionShape& shape) {
  return shape.batch * shape.heads <= 0 || shape.queries <= 0 || shape.keys <= 0;
}

}  // namespace

double attention_work(const AttentionFit& fit, const AttentionShape& shape) {
  return 2 * shape.batch * shape.heads * counted_pairs(fit, shape) *
         (shape.qk_dim + shape.value_dim + 2 * fit.softmax_dims);
}

double equivalent_sequence(const AttentionFit& fit, const AttentionShape& shape) {
  // s (s + s0) / 2 = pairs, solved without a difference of large numbers.
  const double half = fit.half_sequence / 2, pairs = counted_pairs(fit, shape);
  return 2 * pairs / (half + std::sqrt(half * half + 2 * pairs));
}

double attention_form(const AttentionFit& fit, const AttentionShape& shape) {
  const double bytes = 2 * shape.batch * (shape.qk_dim + shape.value_dim) *
                       (shape.queries * shape.heads + shape.keys * shape.kv_heads);
  return fit.launch_s + attention_work(fit, shape) / fit.flops_per_s + bytes / fit.bytes_per_s;
}

double attention_forward(const AttentionFit& fit, const AttentionShape& shape) {
  if (fit.table.empty()) return attention_form(fit, shape);
  const double heads = shape.batch * shape.heads, head_dim = (shape.qk_dim + shape.value_dim) / 2;
  const double sequence = equivalent_sequence(fit, shape);
  const double near_dim = fit.table.clamped(2, head_dim);
  double seconds = fit.table.at(std::max(sequence, 1e-9), heads, head_dim);
  // Smaller heads than were measured save work in the form's proportion, but no launch.
  const double saved = 1 - std::min(1.0, (head_dim + fit.softmax_dims) / (near_dim + fit.softmax_dims));
  seconds -= saved * std::max(0.0, seconds - fit.launch_s);
  const double more_work =
      causal_work(fit, sequence, heads, head_dim) -
      causal_work(fit, std::min(sequence, fit.table.clamped(0, sequence)),
                  std::min(heads, fit.table.clamped(1, heads)), std::min(head_dim, near_dim));
  return seconds + more_work / fit.flops_per_s;
}

double attention_cache_s(const AttentionFit& fit, const AttentionShape& shape) {
  if (fit.cache_bytes_per_s <= 0) return 0;
  return 2 * shape.batch * shape.keys * shape.kv_heads * (shape.qk_dim + shape.value_dim) /
         fit.cache_bytes_per_s;
}

// Fused attention (FlashAttention, arXiv 2205.14135): the scores never leave the chip, so that time is matrix
// products, the softmax between them, and reading Q, K, V and writing O once.
Timed attention_forward_time(const Device& device, const AttentionShape& shape) {
  const AttentionFit& fit = device.profile.attention;
  if (is_empty(shape)) return {0, fit.evidence};
  Evidence evidence = fit.evidence;
  if (!fit.table.empty()) {
    if (!fit.table.covers(equivalent_sequence(fit, shape), shape.batch * shape.heads,
                          (shape.qk_dim + shape.value_dim) / 2)) {
      evidence = worst(evidence, Evidence::kExtrapolated);
    } else if (!shape.causal || shape.queries != shape.keys || shape.window > 0) {
      evidence = worst(evidence, Evidence::kInterpolated);
    }
  }
  return {attention_forward(fit, shape), evidence};
}

Timed attention_backward_time(const Device& device, const AttentionShape& shape) {
  const Timed forward = attention_forward_time(device, shape);
  return {device.profile.attention.backward_factor * forward.seconds, forward.evidence};
}

}  // namespace trainfront::costmodel
