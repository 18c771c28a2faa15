#pragma once

#include <string>

#include "costmodel/model.hpp"
#include "inputs/section.hpp"

namespace trainfront::inputs {

// Reads a transformer's shape from the explicit keys of a table ([model] of a sweep file, an entry of a
// catalogue of models; docs/sweep-file.md lists them). Faults go to the section's diagnostics, the model is
// of use only without any. The caller calls finish().
costmodel::Model read_model_shape(Section& section, std::string name);

// What contradicts itself in a shape whose members are each in range ("heads 28 is no multiple of kv_heads
// 8"); empty if nothing does.
std::string shape_conflict(const costmodel::Model& model);

// Largest count or width that a shape may have, layers apart: products of two stay far below 2^63.
inline constexpr int kMaxWidth = 1 << 24;
inline constexpr int kMaxLayers = 100000;

}  // namespace trainfront::inputs
