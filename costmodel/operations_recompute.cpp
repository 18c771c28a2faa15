#include <algorithm>

#include "costmodel/operation_builder.hpp"

// Megatron-Core as of 2026: megatron/core/transformer/{transformer_layer,multi_latent_attention}.py and
// megatron/core/transformer/moe/{moe_layer,experts}.py, what selective recomputation wraps.
namespace trainfront::costmodel {
namespace {

using enum RecomputeModule;

// A checkpointed MLP runs whole, its output and their exchange too; a dense one starts with its norm.
void add_again(OperationBuilder& builder, const Model& model, const Recipe& recipe, const Layout& layout,
               const FrameworkProfile& framework, Block block) {
  const RecomputeModules modules = layout.modules;
  if (modules.has(kCoreAttention)) add_core_attention(builder, model, recipe, layout, framework);
  if (modules.has(kLatentUpProjection)) add_latent_up_projections(builder, model, recipe);
  if (modules.has(kLayernorm)) {
    const int norms = (model.latent ? 1 : 0) + (block == Block::kMoe ? 1 : 0);
    if (norms > 0) add_norm(builder, model, norms);
  }
  if (block == Block::kDense) {
    if (!modules.has(kMlp)) return;
    add_norm(builder, model, 1);
    add_mlp(builder, model, recipe, framework, model.ffn);
    return;
  }
  if (modules.has(kMoe)) {
    add_moe(builder, model, recipe, layout, framework);
    return;
  }
  if (modules.has(kMoeActivation)) add_expert_activation(builder, model, recipe, layout, framework);
  if (modules.has(kSharedExperts)) add_mlp(builder, model, recipe, framework, model.shared_expert_ffn);
}

}  // namespace

Operations recomputed_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                                 const FrameworkProfile& framework, Block block) {
  OperationBuilder builder(recipe, layout);
  add_again(builder, model, recipe, layout, framework, block);
  Operations operations = builder.take();
  std::erase_if(operations, [](const Operation& operation) { return operation.pass != Pass::kForward; });
  return operations;
}

}  // namespace trainfront::costmodel
