#pragma once

#include <vector>

#include "costmodel/layer_time.hpp"
#include "costmodel/pipeline_time.hpp"
#include "costmodel/stage_split.hpp"

namespace trainfront::costmodel {

// Blocks that one model chunk holds.
struct ChunkBlocks {
  int dense = 0;
  int moe = 0;
  bool embedding = false;
  bool head = false;
  int mtp = 0;

  bool operator==(const ChunkBlocks&) const = default;
};
ChunkBlocks chunk_blocks(const Model& model, const StageSplit& split, int chunk);

// Time by pass and part of a micro-batch through a chunk.
BlockTime chunk_time(const BlockTimes& times, const ChunkBlocks& blocks);

// All chunks of a layout, and what its GPUs hold; chunk v * pp + stage.
struct StageLoads {
  std::vector<StageTime> chunks;
  std::vector<LocalParameters> parameters;  // by stage
};
StageLoads stage_loads(const Model& model, const Layout& layout, const FrameworkProfile& framework,
                       const BlockTimes& times);

}  // namespace trainfront::costmodel
