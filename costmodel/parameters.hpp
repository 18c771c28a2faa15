#pragma once

#include <cstdint>

#include "costmodel/model.hpp"

namespace trainfront::costmodel {

// Exact counts of trainable parameters, padding and copies apart.
struct ParameterCounts {
  std::int64_t embedding = 0;       // token table (and learned positions)
  std::int64_t lm_head = 0;         // 0 when tied
  std::int64_t dense_layer = 0;     // one block with a dense MLP; 0 if the model has none
  std::int64_t moe_layer = 0;       // one MoE block, all experts
  std::int64_t attention = 0;       // of one block: projections and their biases, norms on queries and keys
  std::int64_t expert = 0;          // one routed expert
  std::int64_t shared_experts = 0;  // of one MoE block
  std::int64_t router = 0;          // of one MoE block
  std::int64_t norms = 0;           // of one block
  std::int64_t final_norm = 0;
  std::int64_t mtp = 0;  // all multi-token-prediction blocks; not in total or active
  std::int64_t total = 0;
  std::int64_t active = 0;  // visited by one token: total less the experts it does not visit
};
ParameterCounts count_parameters(const Model& model);

// Whether block `layer` (0-based) is MoE: after the leading dense blocks, the last of every moe_every.
bool is_moe_layer(const Model& model, int layer);

// MoE blocks among the first `layer` blocks.
int moe_layers_before(const Model& model, int layer);

// Number of MoE blocks among model.layers.
int moe_layers(const Model& model);

}  // namespace trainfront::costmodel
