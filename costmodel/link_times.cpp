#include "costmodel/link_times.hpp"

#include <utility>

#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {
namespace {

Operations communication_of(Operations operations) {
  std::erase_if(operations, [](const Operation& operation) {
    return !std::holds_alternative<Communication>(operation.work) &&
           !std::holds_alternative<Dispatch>(operation.work);
  });
  for (Operation& operation : operations) {
    if (auto* communication = std::get_if<Communication>(&operation.work))
      communication->beside_attention = false;
  }
  return operations;
}

}  // namespace

BlockTimes link_times(const Model& model, const Recipe& recipe, const Layout& layout,
                      const Hardware& hardware, const FrameworkProfile& framework) {
  FrameworkProfile bare = framework;
  bare.tensor_parallel_exposed = bare.expert_parallel_exposed = 1;
  const GroupPlacements placements = place_groups(layout, hardware.domain_gpus);
  const auto price = [&](Operations operations) {
    return price_operations(communication_of(std::move(operations)), placements, hardware, bare);
  };
  const auto layer = [&](Block block) {
    BlockTime time = price(layer_operations(model, recipe, layout, bare, block));
    if (layout.recompute == Recompute::kSelective && !layout.modules.empty()) {
      add_recomputation(time, price(recomputed_operations(model, recipe, layout, bare, block)));
    } else {
      add_recomputation(time, layout.recompute, bare);
    }
    return time;
  };
  BlockTimes times;
  const int moe = moe_layers(model);
  if (moe < model.layers) times.dense = layer(Block::kDense);
  if (moe > 0) times.moe = layer(Block::kMoe);
  times.embedding = price(embedding_operations(model, recipe, layout));
  times.head = price(head_operations(model, recipe, layout, bare));
  if (model.mtp_blocks > 0) {
    times.mtp = price(mtp_operations(model, recipe, layout));
    times.mtp.add(moe > 0 ? times.moe : times.dense);
    times.mtp.add(times.head);
  }
  return times;
}

}  // namespace trainfront::costmodel
