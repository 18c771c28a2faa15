#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faults/matching.hpp"

namespace trainfront::faults {

// RECTLR, SPARe's reordering controller (arXiv 2603.00357). Every group holds a list of shards and computes
// them in its present order; a step ends as soon as every shard type has been computed somewhere. With
// sub-shards, a type is cut into m parts that move on their own: they are the shards here, m of them one
// stack.

// Who holds what, and in which order they compute it: per group `per_group` shards, first those computed
// first.
struct StackOrder {
  int groups = 0;
  int shards = 0;
  int per_group = 0;
  std::vector<int> order;  // groups x per_group

  std::span<const int> of(int group) const {
    return std::span(order).subspan(static_cast<std::size_t>(group * per_group),
                                    static_cast<std::size_t>(per_group));
  }
  bool operator==(const StackOrder&) const = default;
};

// The order of a full system: group g computes its own type first, type g - o for offset o. Offsets as
// placement.hpp gives them (the first is 0).
StackOrder initial_order(std::int64_t n, const std::vector<std::int64_t>& offsets, int sub_shards = 1);

enum class Phase : std::uint8_t {
  kFixed,    // HK-FIXED: the present order still collects every shard, at no greater depth
  kReorder,  // HK-FREE found the least depth, MCMF the order that moves the fewest shards
  kWipeOut,  // a shard has lost all its hosts: restart
};

struct Decision {
  Phase phase = Phase::kWipeOut;
  int depth = 0;  // S*: shards that each survivor computes at most, the least possible; 0 at a wipe-out
  int moved = 0;  // shards that a survivor takes into its first S*, which it did not compute so early before
  StackOrder order;  // the new one; of lost groups as it was
};

// One object per system: who holds what never changes, and the work space is kept.
class Controller {
 public:
  explicit Controller(const StackOrder& initial);

  // `alive` by group. `present_depth`: the depth of the last decision, for survivors that included all of
  // these; 0 if not known. A survivor that has room within S* computes its further shards in the order they
  // were in.
  Decision decide(const StackOrder& present, const std::vector<bool>& alive, int present_depth = 0) const;

  // Least depth over all orders (HK-FREE alone); 0 at a wipe-out.
  int least_depth(const std::vector<bool>& alive) const;

 private:
  Bipartite hosts_;
  int per_group_ = 0;
};

// How many shards each survivor computes until the present order has collected every shard; 0: it never does.
int fixed_depth(const StackOrder& present, const std::vector<bool>& alive);

}  // namespace trainfront::faults
