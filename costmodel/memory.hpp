#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/memory_profile.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Bytes on one GPU of one pipeline stage.
struct MemoryParts {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;    // logits and loss, on the last stage
  double buffers = 0;   // gathered parameters, MoE dispatch, communication buckets
  double overhead = 0;  // CUDA context, NCCL, allocator

  double total() const { return weights + gradients + optimizer + activations + logits + buffers + overhead; }
};

struct MemoryUse {
  int worst_stage = 0;
  MemoryParts parts;  // of the worst stage
};

// One pipeline stage's share of a LayoutMemory; bytes and parameters on one GPU.
struct StageMemory {
  double dense_parameters = 0;       // split over tp and pp alone
  double expert_parameters = 0;      // split over the expert grid
  double activation_bytes = 0;       // of one micro-batch through all chunks of the stage
  double most_activation_bytes = 0;  // with as many micro-batches in flight as the schedule ever has
  double working_bytes = 0;          // a block under recomputation
  double logit_bytes = 0;
  double accumulated_logit_bytes = 0;  // more of them as soon as there are two micro-batches
  double buffer_bytes = 0;
  std::int64_t most_passes = 0;  // chunk passes in flight at most
  int stage = 0;
};

// All of a layout's memory that does not depend on dp or batch: built once per layout in a search (dp is not
// looked at). Only stages that can be the worst are kept.
struct LayoutMemory {
  static constexpr int kStages = 8;
  std::array<StageMemory, kStages> stages;
  int stage_count = 0;
  StateRecipe state;
  std::int64_t cp = 1;
  std::int64_t micro_batch = 1;
  std::int64_t vpp = 1;
  double shard_ranks = 0;   // 0: all dp * cp
  double expert_share = 1;  // expert shard ranks per dense shard rank: tp / (etp ep)
  double overhead_bytes = 0;
};
LayoutMemory layout_memory(const Model& model, const Recipe& recipe, const Layout& layout,
                           const MemoryProfile& profile);
LayoutMemory layout_memory(const Model& model, const Recipe& recipe, const Layout& layout);

// Bytes of the worst stage for a legal dp and global batch (sequences): memory_use().parts.total(), bit for
// bit. Never grows with dp at a given global batch, nor with the number of micro-batches falling.
double peak_memory_bytes(const LayoutMemory& memory, std::int64_t dp, std::int64_t global_batch);

// The same with its parts.
MemoryUse peak_memory(const LayoutMemory& memory, std::int64_t dp, std::int64_t global_batch);

// Memory of the worst stage; layout.dp and global batch (sequences) count. The framework's default profile.
MemoryUse memory_use(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch);

// The most bytes that a plan may be predicted to take: what the driver reports. Published runs that fitted
// lie below it in the model, all of them; every layout above it failed (docs/validation.md).
double usable_memory_bytes(const Device& device);

// How sure a fit is: within the model's own error, and what the allocator loses to fragments, of the limit it
// is borderline.
enum class Fit : std::uint8_t { kFits, kBorderline, kDoesNotFit };
Fit memory_fit(double bytes, const Device& device);
std::string_view fit_name(Fit fit);  // "fits", "borderline", "does not fit"

}  // namespace trainfront::costmodel
