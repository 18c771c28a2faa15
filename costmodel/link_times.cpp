#include "costmodel/link_times.hpp"

#include <utility>

#include "costmodel/each_block.hpp"

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
  return each_block(model, recipe, layout, bare, price, [](BlockTime&, Block) {});
}

}  // namespace trainfront::costmodel
