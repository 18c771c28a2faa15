#include <algorithm>

#include "costmodel/breakdown.hpp"
#include "costmodel/step_time.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kFaster = 1.1;

void scale(BlockTimes& times, Part part, double factor) {
  for (BlockTime* block :
       {&times.dense, &times.moe, &times.embedding, &times.head, &times.mtp, &times.micro_batch}) {
    for (PartTimes& pass : block->pass) pass[part] *= factor;
  }
}

}  // namespace

// Kernels: their part of the blocks' times. Links and network: all that the collectives' model makes of them.
std::vector<Sensitivity> sensitivities(const Model& model, const Recipe& recipe, const Layout& layout,
                                       std::int64_t global_batch, const Hardware& hardware,
                                       const FrameworkProfile& framework, const Islands& islands) {
  const auto time_on = [&](const Hardware& on, Resource faster) {
    BlockTimes times = block_times(model, recipe, layout, on, framework);
    if (faster == Resource::kCompute) {
      scale(times, Part::kGemm, 1 / kFaster);
      scale(times, Part::kAttention, 1 / kFaster);
    }
    if (faster == Resource::kMemory) scale(times, Part::kMemoryBound, 1 / kFaster);
    if (faster == Resource::kHost) scale(times, Part::kHost, 1 / kFaster);
    const LayoutCost cost = layout_cost(model, recipe, layout, on, framework, times);
    return step_time(cost, layout.dp, global_batch, islands).with_stacks(1);
  };
  Hardware faster_link = hardware;
  faster_link.device = with_faster_link(hardware.device, kFaster);
  Hardware faster_network = hardware;
  faster_network.network.nic_bytes_per_s *= kFaster;

  const LayoutCost cost = layout_cost(model, recipe, layout, hardware, framework);
  const double before = step_time(cost, layout.dp, global_batch, islands).with_stacks(1);
  std::vector<Sensitivity> result;
  for (const Resource resource :
       {Resource::kCompute, Resource::kMemory, Resource::kLink, Resource::kNetwork, Resource::kHost}) {
    const Hardware& on = resource == Resource::kLink      ? faster_link
                         : resource == Resource::kNetwork ? faster_network
                                                          : hardware;
    result.push_back({resource, std::max(0.0, 1 - time_on(on, resource) / before)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Sensitivity& a, const Sensitivity& b) { return a.saved > b.saved; });
  return result;
}

}  // namespace trainfront::costmodel
