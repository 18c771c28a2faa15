#pragma once

#include <cstdint>

#include "costmodel/legality.hpp"

namespace trainfront::costmodel {

// What Megatron-LM (core) of 2026-08 refuses to launch: megatron/training/arguments.py, core/transformer/
// transformer_config.py, core/parallel_state.py and core/pipeline_parallel/schedules.py. Degrees are >= 1.
Rule check_megatron_layout(const Model& model, const Recipe& recipe, const Layout& layout);

// Micro-batches of an interleaved schedule come in groups of pp (its default group size).
Rule check_megatron_batch(const Layout& layout, std::int64_t micro_batches);

}  // namespace trainfront::costmodel
