#pragma once

#include "costmodel/device_profile.hpp"
#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {

// Work of a fused attention kernel in FLOPs: both matrix products, the softmax and masked tiles' edges
// counted by fit.
double attention_work(const AttentionFit& fit, const AttentionShape& shape);

// The sequence length whose causal self-attention costs each head as much work as the shape does.
double equivalent_sequence(const AttentionFit& fit, const AttentionShape& shape);

// Seconds forward by the parametric form alone, and with the table where the profile has one; without a
// cache.
double attention_form(const AttentionFit& fit, const AttentionShape& shape);
double attention_forward(const AttentionFit& fit, const AttentionShape& shape);

// What a serving engine adds to a forward call: it copies K and V to its cache.
double attention_cache_s(const AttentionFit& fit, const AttentionShape& shape);

}  // namespace trainfront::costmodel
