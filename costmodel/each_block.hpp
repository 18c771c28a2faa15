#pragma once

#include "costmodel/layer_time.hpp"
#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {

// Each block that the model has, priced once, with what recomputation adds. `price` makes a BlockTime of
// Operations; `finish(time, block)` has the last word on a layer.
template <typename Price, typename Finish>
BlockTimes each_block(const Model& model, const Recipe& recipe, const Layout& layout,
                      const FrameworkProfile& framework, const Price& price, const Finish& finish) {
  const auto layer = [&](Block block) {
    BlockTime time = price(layer_operations(model, recipe, layout, framework, block));
    if (layout.recompute == Recompute::kSelective && !layout.modules.empty()) {
      add_recomputation(time, price(recomputed_operations(model, recipe, layout, framework, block)));
    } else {
      add_recomputation(time, layout.recompute, framework);
    }
    finish(time, block);
    return time;
  };
  BlockTimes times;
  const int moe = moe_layers(model);
  if (moe < model.layers) times.dense = layer(Block::kDense);
  if (moe > 0) times.moe = layer(Block::kMoe);
  times.embedding = price(embedding_operations(model, recipe, layout));
  times.head = price(head_operations(model, recipe, layout, framework));
  if (model.mtp_blocks > 0) {
    times.mtp = price(mtp_operations(model, recipe, layout));
    times.mtp.add(moe > 0 ? times.moe : times.dense);
    times.mtp.add(times.head);
  }
  return times;
}

}  // namespace trainfront::costmodel
