#include "engine/block_ranges.hpp"

#include <algorithm>

namespace trainfront::engine {

void BlockRanges::add(BlockRange range) {
  if (range.first >= range.last) return;
  // The ranges that touch the new one are melted into it.
  const auto begin =
      std::lower_bound(ranges_.begin(), ranges_.end(), range.first,
                       [](const BlockRange& have, std::uint64_t first) { return have.last < first; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= range.last; ++end) {
    range.first = std::min(range.first, end->first);
    range.last = std::max(range.last, end->last);
    count_ -= end->count();
  }
  count_ += range.count();
  if (begin == end) {
    ranges_.insert(begin, range);
  } else {
    *begin = range;
    ranges_.erase(begin + 1, end);
  }
}

void BlockRanges::add(const BlockRanges& other) {
  for (const BlockRange& range : other.ranges_) add(range);
}

BlockRange BlockRanges::take(std::uint64_t blocks) {
  if (ranges_.empty() || blocks == 0) return {};
  BlockRange& front = ranges_.front();
  const BlockRange taken{front.first, front.first + std::min(blocks, front.count())};
  front.first = taken.last;
  count_ -= taken.count();
  if (front.count() == 0) ranges_.erase(ranges_.begin());
  return taken;
}

bool BlockRanges::contains(BlockRange range) const {
  if (range.first >= range.last) return true;
  const auto at =
      std::upper_bound(ranges_.begin(), ranges_.end(), range.first,
                       [](std::uint64_t first, const BlockRange& have) { return first < have.last; });
  return at != ranges_.end() && at->first <= range.first && range.last <= at->last;
}

BlockRanges BlockRanges::complement(std::uint64_t end) const {
  BlockRanges gaps;
  std::uint64_t next = 0;
  for (const BlockRange& range : ranges_) {
    gaps.add({next, std::min(range.first, end)});
    next = range.last;
  }
  gaps.add({next, end});
  return gaps;
}

}  // namespace trainfront::engine
