#pragma once

#include <cstdint>

#include "costmodel/framework_profile.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"

namespace trainfront::costmodel {

// How the layers came to lie as they do.
enum class SplitKind : std::uint8_t {
  kEven,        // layers % chunks == 0
  kAccounted,   // embedding and loss, or one of them, count as a layer (Megatron-LM,
                // account_for_{embedding,loss}_in_pipeline_split)
  kUnevenEnds,  // first and last stage differ from the rest (Megatron-LM,
                // decoder_{first,last}_pipeline_num_layers)
  kBalanced,    // embedding and loss count as a layer each; the rest as even as it can be (torchtitan)
  kByCost,      // cut where the cumulative cost passes its share (nanotron)
};

// Transformer layers of every model chunk. Chunk v * pp + stage is the v-th chunk of a stage (Megatron-LM,
// pipeline_parallel_layer_layout.py). The chunks' layers always sum to the model's.
struct StageSplit {
  SplitKind kind = SplitKind::kEven;
  int total = 0;                        // layers
  int chunks = 1;                       // pp * vpp
  int first = 0, middle = 0, last = 0;  // layers of chunk 0, of those between, of the last one
  int longer = 0;                       // so many of the middle chunks, from the front, hold one more
  double stride = 0;                    // kByCost: layers per share of the cost

  int first_layer(int chunk) const;  // 0 <= chunk <= chunks; first_layer(chunks) == total
  int layers(int chunk) const { return first_layer(chunk + 1) - first_layer(chunk); }
};

// What `layout.framework` does with model.layers over pp * vpp chunks. kBalanced on Megatron means that only
// a pipeline layout string can do it. 0 layers in a chunk, or fewer layers than chunks, are for legality to
// refuse.
StageSplit split_layers(const Model& model, const Layout& layout, SplitPolicy policy = SplitPolicy::kEven);

}  // namespace trainfront::costmodel
