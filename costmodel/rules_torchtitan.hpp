#pragma once

#include <cstdint>

#include "costmodel/legality.hpp"

namespace trainfront::costmodel {

// What torchtitan of 2026-08 refuses: distributed/parallel_dims.py, models/common/decoder.py,
// distributed/pipeline_parallel.py, trainer.py. Degrees are >= 1.
Rule check_torchtitan_layout(const Model& model, const Recipe& recipe, const Layout& layout);

// Interleaved stages take their micro-batches in rounds (PyTorch pipelining/schedules.py); FSDP shards over
// cp too.
Rule check_torchtitan_batch(const Layout& layout, std::int64_t micro_batches);

}  // namespace trainfront::costmodel
