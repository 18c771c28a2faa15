#pragma once

#include "costmodel/activation_memory.hpp"
#include "costmodel/memory.hpp"
#include "costmodel/parameters.hpp"
#include "costmodel/stage_split.hpp"

namespace trainfront::costmodel {

// Counts what one GPU of a pipeline stage holds. Refers to its arguments; they must outlive it.
class StageMemoryBuilder {
 public:
  StageMemoryBuilder(const Model& model, const Recipe& recipe, const Layout& layout,
                     const MemoryProfile& profile);

  StageMemory build(int stage) const;  // 0 <= stage < layout.pp

 private:
  struct Blocks {
    int dense = 0;
    int moe = 0;
  };
  Blocks chunk_blocks(int chunk) const;
  double activation_bytes(const Blocks& blocks) const;
  void add_activations(StageMemory& stage) const;
  void add_ends(StageMemory& stage, int index) const;
  void add_buffers(StageMemory& stage, const Blocks& blocks) const;

  const Model& model_;
  const Layout& layout_;
  const MemoryProfile& profile_;
  StageSplit split_;
  LayerActivations activations_;
  double dense_layer_parameters_ = 0;   // on one GPU
  double moe_layer_parameters_ = 0;     // without the routed experts
  double expert_layer_parameters_ = 0;  // routed experts of one block
  double table_parameters_ = 0;         // one of embedding and head
  double expert_imbalance_ = 1;
  double tokens_ = 0;              // of one micro-batch on one context-parallel rank
  double hidden_token_bytes_ = 0;  // one hidden state of a micro-batch
};

}  // namespace trainfront::costmodel
