#include "engine/remaining.hpp"

#include <algorithm>

namespace trainfront::engine {
namespace {

std::uint64_t plans_on(const search::Space& space, int hardware) {
  const bool is_last = static_cast<std::size_t>(hardware) + 1 == space.problem().hardware.size();
  return (is_last ? space.size() : space.first_index(hardware + 1)) - space.first_index(hardware);
}

// Blocks of a gap that are counted at once, from its beginning on: whole runs over all GPU counts, or a part
// of one run.
struct Stretch {
  int hardware = 0;
  std::uint64_t blocks = 0;
  std::uint64_t layouts = 0;    // that each GPU count is to be walked with
  std::size_t first_count = 0;  // position of the first GPU count
  std::size_t counts = 0;
};

Stretch stretch_of(const search::Space& space, const BlockRange& gap) {
  const search::Block begin = space.block(gap.first);
  const std::size_t counts = space.problem().gpus.size();
  const std::uint64_t left = std::min(gap.last, space.first_block(begin.hardware + 1)) - gap.first;
  const std::uint64_t runs = begin.gpus == 0 ? left / counts : 0;

  Stretch stretch;
  stretch.hardware = begin.hardware;
  stretch.first_count = begin.gpus;
  stretch.counts = runs > 0 ? counts : std::min<std::uint64_t>(left, counts - begin.gpus);
  stretch.blocks = std::max<std::uint64_t>(runs, 1) * stretch.counts;
  const search::LayoutList& list = space.layouts(begin.hardware);
  const search::Block end = space.block(gap.first + stretch.blocks - 1);
  stretch.layouts = list.shapes[end.last_shape].first - list.shapes[begin.first_shape].first;
  return stretch;
}

}  // namespace

Remaining remaining_of(const search::Space& space, const BlockRanges& done) {
  const auto share_of = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const std::size_t kinds = space.problem().hardware.size();
  std::vector<Remaining::Part> parts(kinds);
  std::vector<BlockRanges> counts_left(kinds);  // positions of GPU counts
  const BlockRanges gaps = done.complement(space.blocks());
  for (BlockRange gap : gaps.ranges()) {
    while (gap.count() > 0) {
      const Stretch stretch = stretch_of(space, gap);
      const auto kind = static_cast<std::size_t>(stretch.hardware);
      const std::uint64_t per_layout = plans_on(space, stretch.hardware) / space.problem().gpus.size() /
                                       space.layouts(stretch.hardware).size();
      parts[kind].plans += stretch.layouts * stretch.counts * per_layout;
      counts_left[kind].add({stretch.first_count, stretch.first_count + stretch.counts});
      gap.first += stretch.blocks;
    }
  }
  Remaining remaining;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    Remaining::Part& part = parts[kind];
    if (part.plans == 0) continue;
    part.hardware = static_cast<int>(kind);
    for (const BlockRange& counts : counts_left[kind].ranges())
      for (std::uint64_t count = counts.first; count < counts.last; ++count)
        part.gpus.push_back(space.problem().gpus[count]);
    part.share = share_of(part.plans, plans_on(space, part.hardware));
    remaining.plans += part.plans;
    remaining.parts.push_back(std::move(part));
  }
  remaining.share = share_of(remaining.plans, space.size());
  return remaining;
}

}  // namespace trainfront::engine
