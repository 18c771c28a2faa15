#include "costmodel/memory_profile.hpp"

namespace trainfront::costmodel {

namespace {

StateRecipe megatron_state(int zero, double moments_and_master) {
  StateRecipe recipe{.weights = {2, 0}, .gradients = {4, 0}, .optimizer = {moments_and_master, 0}};
  if (zero >= 1) recipe.optimizer = {0, moments_and_master};
  if (zero >= 2) recipe.gradients = {0, 4};
  if (zero >= 3) recipe.weights = {0, 2};
  return recipe;
}

StateRecipe torchtitan_state(const Layout& layout, double moments) {
  StateRecipe recipe{.weights = {0, 4}, .gradients = {0, 4}, .optimizer = {0, moments}};
  if (layout.zero == 0) return {.weights = {4, 0}, .gradients = {4, 0}, .optimizer = {moments, 0}};
  if (layout.zero == 2) recipe.weights.held = 2;
  if (layout.pp > 1) recipe.gradients.held = 4;
  return recipe;
}

StateRecipe deepspeed_state(int zero, double moments_and_master) {
  StateRecipe recipe{.weights = {2, 0}, .gradients = {2, 0}, .optimizer = {moments_and_master, 0}};
  if (zero >= 1) recipe.optimizer = {0, moments_and_master};
  if (zero == 2) recipe.gradients = {0, 2};
  if (zero >= 3) {
    recipe.weights = {0, 2};
    recipe.gradients = {0, 4};
  }
  return recipe;
}

}  // namespace

const MemoryProfile& default_memory_profile(Framework framework) {
  static const MemoryProfile megatron{.name = "megatron-2026"};
  // Selective recomputation of single operations keeps every second matrix product and the attention's
  // output. The loss is not fused: logits and their gradients, each in bf16 and in fp32.
  static const MemoryProfile torchtitan{.name = "torchtitan-2026",
                                        .framework = Framework::kTorchtitan,
                                        .selective_keeps = 0.5,
                                        .logit_bytes = 12,
                                        .keeps_gathered_keys = true};
  static const MemoryProfile deepspeed{
      .name = "deepspeed-2026", .framework = Framework::kDeepspeed, .logit_bytes = 8};
  switch (framework) {
    case Framework::kTorchtitan:
      return torchtitan;
    case Framework::kDeepspeed:
      return deepspeed;
    case Framework::kMegatron:
      break;
  }
  return megatron;
}

const MemoryProfile& nvidia_recipe_memory_profile() {
  static const MemoryProfile recipe{.name = "nvidia-recipe-2025", .gradient_share = 0.5};
  return recipe;
}

const MemoryProfile& fused_loss_fsdp_memory_profile() {
  static const MemoryProfile fsdp = [] {
    MemoryProfile profile = default_memory_profile(Framework::kTorchtitan);
    profile.name = "llm-foundry-2024";
    profile.logit_bytes = 6;
    return profile;
  }();
  return fsdp;
}

const MemoryProfile& nanotron_memory_profile() {
  static const MemoryProfile nanotron{.name = "nanotron-2025",
                                      .split = SplitPolicy::kByCost,
                                      .hidden_bytes = 36,
                                      .gated_ffn_bytes = 4.8,
                                      .logit_bytes = 10.8,
                                      .accumulation_logit_bytes = 4.85,
                                      .transient_hidden = 0,
                                      .context_bytes = 0.42 * 1073741824.0,
                                      .communicator_bytes = 0};
  return nanotron;
}

StateRecipe state_recipe(const Layout& layout, Optimizer optimizer) {
  // Adam keeps two fp32 moments, SGD one; the master copy is fp32.
  const double moments = optimizer == Optimizer::kAdam ? 8 : 4;
  switch (layout.framework) {
    case Framework::kMegatron:
      return megatron_state(layout.zero, moments + 4);
    case Framework::kTorchtitan:
      return torchtitan_state(layout, moments);
    case Framework::kDeepspeed:
      return deepspeed_state(layout.zero, moments + 4);
  }
  return {};
}

}  // namespace trainfront::costmodel
