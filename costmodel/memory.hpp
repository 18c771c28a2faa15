#pragma once

#include <cstdint>

#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Bytes on one GPU of one pipeline stage.
struct MemoryParts {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;      // logits and loss, on the last stage
  double buffers = 0;     // gathered parameters, MoE dispatch, communication buckets
  double overhead = 0;    // CUDA context, NCCL, allocator

  double total() const { return weights + gradients + optimizer + activations + logits + buffers + overhead; }
};

struct MemoryUse {
  int worst_stage = 0;
  MemoryParts parts;      // of the worst stage
};

// Memory of the worst stage; layout.dp and global batch (sequences) count.
MemoryUse memory_use(const Model& model, const Recipe& recipe, const Layout& layout, std::int64_t global_batch);

// Share of the device's memory that training can use (fragmentation, context): bytes a plan may take.
double usable_memory_bytes(const Device& device);

}  // namespace trainfront::costmodel
