#pragma once

#include "costmodel/layout.hpp"
#include "costmodel/memory_profile.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Activation bytes that one GPU keeps of one micro-batch for the backward pass.
struct LayerActivations {
  double dense_layer = 0;    // one block with a dense MLP, under the layout's recomputation
  double moe_layer = 0;      // one MoE block
  double dense_working = 0;  // while one block is recomputed, all of it lives: this much more than is kept
  double moe_working = 0;
};

// Formulas: Korthikanti et al., arXiv 2205.05198, sections 4 and 5, with flash attention in place of the
// scores where the profile says so, grouped key-value heads, latent attention, and for MoE the routed tokens'
// own copies (k per token, spread evenly over experts). Experts in fp8 keep their linear layers' inputs in
// one byte.
LayerActivations layer_activations(const Model& model, const Recipe& recipe, const Layout& layout,
                                   const MemoryProfile& profile);

}  // namespace trainfront::costmodel
