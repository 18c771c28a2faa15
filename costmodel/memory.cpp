#include "costmodel/memory.hpp"

#include <algorithm>

#include "costmodel/activation_memory.hpp"
#include "costmodel/legality.hpp"
#include "costmodel/parameters.hpp"
#include "costmodel/stage_memory.hpp"

namespace trainfront::costmodel {

namespace {

// Of the memory the driver reports; PyTorch's caching allocator loses the rest to fragments.
constexpr double kAllocatable = 0.95;
// Of measured peaks above 40 GiB, 97 in 100 lie within (docs/validation.md).
constexpr double kModelError = 0.2;

// Bytes that one parameter costs on a rank.
struct PerParameter {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
};

PerParameter per_parameter(const StateRecipe& state, double share) {
  return {state.weights.on_rank(share), state.gradients.on_rank(share), state.optimizer.on_rank(share)};
}

// What dp and the global batch decide.
struct Setting {
  PerParameter dense, expert;
  std::int64_t micro_batches = 0;
};

Setting setting_of(const LayoutMemory& memory, std::int64_t dp, std::int64_t global_batch) {
  const double ranks = memory.shard_ranks > 0 ? memory.shard_ranks : static_cast<double>(dp * memory.cp);
  const double expert_ranks = std::max(1.0, ranks * memory.expert_share);
  return {.dense = per_parameter(memory.state, 1 / ranks),
          .expert = per_parameter(memory.state, 1 / expert_ranks),
          .micro_batches = global_batch / (dp * memory.micro_batch)};
}

MemoryParts stage_parts(const LayoutMemory& memory, const StageMemory& stage, const Setting& setting) {
  MemoryParts parts;
  const double dense = stage.dense_parameters;
  const double expert = stage.expert_parameters;
  parts.weights = dense * setting.dense.weights + expert * setting.expert.weights;
  parts.gradients = dense * setting.dense.gradients + expert * setting.expert.gradients;
  parts.optimizer = dense * setting.dense.optimizer + expert * setting.expert.optimizer;
  const bool few = setting.micro_batches * memory.vpp <= stage.most_passes;
  parts.activations = (few ? static_cast<double>(setting.micro_batches) * stage.activation_bytes
                           : stage.most_activation_bytes) +
                      stage.working_bytes;
  parts.logits = stage.logit_bytes + (setting.micro_batches > 1 ? stage.accumulated_logit_bytes : 0.0);
  parts.buffers = stage.buffer_bytes;
  parts.overhead = memory.overhead_bytes;
  return parts;
}

// True if `a` needs no less than `b` in every term, whatever dp and batch: then `b` is never the worst alone.
bool covers(const StageMemory& a, const StageMemory& b) {
  return a.dense_parameters >= b.dense_parameters && a.expert_parameters >= b.expert_parameters &&
         a.activation_bytes >= b.activation_bytes && a.most_activation_bytes >= b.most_activation_bytes &&
         a.most_passes >= b.most_passes && a.working_bytes >= b.working_bytes &&
         a.logit_bytes >= b.logit_bytes && a.accumulated_logit_bytes >= b.accumulated_logit_bytes &&
         a.buffer_bytes >= b.buffer_bytes;
}

// An upper bound of both, should a layout ever have more kinds of stages than there is room for.
void absorb(StageMemory& into, const StageMemory& from) {
  into.dense_parameters = std::max(into.dense_parameters, from.dense_parameters);
  into.expert_parameters = std::max(into.expert_parameters, from.expert_parameters);
  into.activation_bytes = std::max(into.activation_bytes, from.activation_bytes);
  into.most_activation_bytes = std::max(into.most_activation_bytes, from.most_activation_bytes);
  into.working_bytes = std::max(into.working_bytes, from.working_bytes);
  into.logit_bytes = std::max(into.logit_bytes, from.logit_bytes);
  into.accumulated_logit_bytes = std::max(into.accumulated_logit_bytes, from.accumulated_logit_bytes);
  into.buffer_bytes = std::max(into.buffer_bytes, from.buffer_bytes);
  into.most_passes = std::max(into.most_passes, from.most_passes);
}

void keep_if_it_may_be_worst(LayoutMemory& memory, const StageMemory& stage) {
  const auto kept = memory.stages.begin();
  const auto end = kept + memory.stage_count;
  if (std::any_of(kept, end, [&](const StageMemory& other) { return covers(other, stage); })) return;
  if (memory.stage_count == LayoutMemory::kStages) {
    absorb(memory.stages.back(), stage);
    return;
  }
  memory.stages[static_cast<std::size_t>(memory.stage_count++)] = stage;
}

double overhead(const Layout& layout, const MemoryProfile& profile) {
  // The data-parallel communicator is always there; the others when their group has more than one rank.
  const int communicators =
      1 + (layout.tp > 1) + (layout.cp > 1) + (layout.pp > 1) + (layout.ep * layout.etp > 1);
  return profile.context_bytes + communicators * profile.communicator_bytes;
}

}  // namespace

LayoutMemory layout_memory(const Model& model, const Recipe& recipe, const Layout& layout,
                           const MemoryProfile& profile) {
  LayoutMemory memory;
  memory.state = state_recipe(layout, recipe.optimizer);
  memory.state.gradients.held *= profile.gradient_share;
  memory.state.gradients.sharded *= profile.gradient_share;
  memory.cp = layout.cp;
  memory.micro_batch = layout.micro_batch;
  memory.vpp = layout.vpp;
  memory.shard_ranks = layout.shard_group;
  memory.expert_share = static_cast<double>(layout.tp) / (static_cast<double>(layout.etp) * layout.ep);
  memory.overhead_bytes = overhead(layout, profile);
  const StageMemoryBuilder builder(model, recipe, layout, profile);
  for (int stage = 0; stage < layout.pp; ++stage) keep_if_it_may_be_worst(memory, builder.build(stage));
  return memory;
}

LayoutMemory layout_memory(const Model& model, const Recipe& recipe, const Layout& layout) {
  return layout_memory(model, recipe, layout, default_memory_profile(layout.framework));
}

double peak_memory_bytes(const LayoutMemory& memory, std::int64_t dp, std::int64_t global_batch) {
  const Setting setting = setting_of(memory, dp, global_batch);
  double peak = 0;
  for (int i = 0; i < memory.stage_count; ++i) {
    peak = std::max(peak, stage_parts(memory, memory.stages[static_cast<std::size_t>(i)], setting).total());
  }
  return peak;
}

MemoryUse peak_memory(const LayoutMemory& memory, std::int64_t dp, std::int64_t global_batch) {
  const Setting setting = setting_of(memory, dp, global_batch);
  MemoryUse use;
  for (int i = 0; i < memory.stage_count; ++i) {
    const StageMemory& stage = memory.stages[static_cast<std::size_t>(i)];
    const MemoryParts parts = stage_parts(memory, stage, setting);
    if (parts.total() > use.parts.total()) use = {stage.stage, parts};
  }
  return use;
}

MemoryUse memory_use(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch) {
  return peak_memory(layout_memory(model, recipe, layout), layout.dp, global_batch);
}

double usable_memory_bytes(const Device& device) {
  return device.memory_bytes;
}

Fit memory_fit(double bytes, const Device& device) {
  if (bytes > usable_memory_bytes(device)) return Fit::kDoesNotFit;
  const double sure = kAllocatable * (1 - kModelError) * device.memory_bytes;
  return bytes > sure ? Fit::kBorderline : Fit::kFits;
}

std::string_view fit_name(Fit fit) {
  switch (fit) {
    case Fit::kFits:
      return "fits";
    case Fit::kBorderline:
      return "borderline";
    case Fit::kDoesNotFit:
      break;
  }
  return "does not fit";
}

}  // namespace trainfront::costmodel
