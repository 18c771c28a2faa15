#pragma once

#include <cstdint>
#include <vector>

namespace trainfront::engine {

// Blocks [first, last).
struct BlockRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t count() const { return last - first; }
  bool operator==(const BlockRange&) const = default;
};

// A set of blocks, kept as ascending ranges that do not touch. Work is handed out in long runs, so there are
// few.
class BlockRanges {
 public:
  BlockRanges() = default;
  explicit BlockRanges(BlockRange range) { add(range); }

  // Adds blocks; those already in are no harm.
  void add(BlockRange range);
  void add(const BlockRanges& other);
  // Takes out and returns the first `blocks` of the set, cut short at a gap; an empty range from an empty
  // set.
  BlockRange take(std::uint64_t blocks);
  void clear() { ranges_.clear(), count_ = 0; }

  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  bool contains(BlockRange range) const;
  // The blocks of [0, end) that are not in the set.
  BlockRanges complement(std::uint64_t end) const;
  const std::vector<BlockRange>& ranges() const { return ranges_; }
  bool operator==(const BlockRanges&) const = default;

 private:
  std::vector<BlockRange> ranges_;
  std::uint64_t count_ = 0;
};

}  // namespace trainfront::engine
