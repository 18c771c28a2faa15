#include "engine/same_plan.hpp"

#include <algorithm>
#include <vector>

#include "search/environment.hpp"
#include "search/evaluate.hpp"

namespace trainfront::engine {
namespace {

// The plan with the hardware and the offer of `space`.
std::optional<search::Plan> on_its_hardware(const search::Space& space, const search::Space& of,
                                            const search::Plan& plan) {
  const search::HardwareClass& from = of.problem().hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Offer& offer = from.offers[static_cast<std::size_t>(plan.offer)];
  const std::vector<search::HardwareClass>& classes = space.problem().hardware;
  for (std::size_t at = 0; at < classes.size(); ++at) {
    const std::vector<costmodel::Offer>& offers = classes[at].offers;
    const auto same = std::find(offers.begin(), offers.end(), offer);
    if (same == offers.end() || classes[at].hardware.device.id != from.hardware.device.id) continue;
    search::Plan there = plan;
    there.hardware = static_cast<int>(at);
    there.offer = static_cast<int>(same - offers.begin());
    return there;
  }
  return std::nullopt;
}

bool is_open(const faults::Protection& protection) {
  return protection.k_max < 0 || protection.spares_per_1000 > 0;
}

}  // namespace

std::optional<std::uint64_t> index_in(const search::Space& space, const search::Space& of,
                                      const search::Plan& plan) {
  std::optional<search::Plan> there = on_its_hardware(space, of, plan);
  if (!there) return std::nullopt;
  if (const auto index = space.encode(*there)) return index;
  const int gpus_per_node =
      space.problem().hardware[static_cast<std::size_t>(there->hardware)].hardware.gpus_per_node;
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, gpus_per_node);
  const std::int64_t spares = search::spare_nodes(plan.protection, nodes);
  const int k_max = search::evaluate(of, plan.index).k_max;
  for (const faults::Protection& open : space.problem().protections) {
    const bool same_kind = open.scheme == plan.protection.scheme && open.r == plan.protection.r &&
                           open.sub_shards == plan.protection.sub_shards;
    if (!is_open(open) || !same_kind || search::spare_nodes(open, nodes) != spares) continue;
    there->protection = open;
    const auto index = space.encode(*there);
    if (index && search::evaluate(space, *index).k_max == k_max) return index;
  }
  return std::nullopt;
}

}  // namespace trainfront::engine
