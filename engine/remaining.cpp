#include "engine/remaining.hpp"

#include <algorithm>

namespace trainfront::engine {
namespace {

std::uint64_t plans_on(const search::Space& space, int hardware) {
  const bool is_last = static_cast<std::size_t>(hardware) + 1 == space.problem().hardware.size();
  return (is_last ? space.size() : space.first_index(hardware + 1)) - space.first_index(hardware);
}

std::uint64_t plans_in(const search::Space& space, const search::Block& block) {
  const search::LayoutList& list = space.layouts(block.hardware);
  const std::uint64_t per_layout =
      plans_on(space, block.hardware) / space.problem().gpus.size() / list.size();
  return (list.shapes[block.last_shape].first - list.shapes[block.first_shape].first) * per_layout;
}

}  // namespace

Remaining remaining_of(const search::Space& space, const BlockRanges& done) {
  const auto share_of = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const std::size_t kinds = space.problem().hardware.size();
  std::vector<Remaining::Part> parts(kinds);
  const BlockRanges gaps = done.complement(space.blocks());
  for (const BlockRange& gap : gaps.ranges()) {
    for (std::uint64_t number = gap.first; number < gap.last; ++number) {
      const search::Block block = space.block(number);
      Remaining::Part& part = parts[static_cast<std::size_t>(block.hardware)];
      part.plans += plans_in(space, block);
      const std::int64_t gpus = space.problem().gpus[block.gpus];
      const auto at = std::lower_bound(part.gpus.begin(), part.gpus.end(), gpus);
      if (at == part.gpus.end() || *at != gpus) part.gpus.insert(at, gpus);
    }
  }
  Remaining remaining;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    Remaining::Part& part = parts[kind];
    if (part.plans == 0) continue;
    part.hardware = static_cast<int>(kind);
    part.share = share_of(part.plans, plans_on(space, part.hardware));
    remaining.plans += part.plans;
    remaining.parts.push_back(std::move(part));
  }
  remaining.share = share_of(remaining.plans, space.size());
  return remaining;
}

}  // namespace trainfront::engine
