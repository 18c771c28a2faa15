#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "costmodel/layer_time.hpp"
#include "costmodel/memory.hpp"
#include "costmodel/step_time.hpp"
#include "faults/cycle.hpp"
#include "faults/efficiency.hpp"
#include "search/layout_list.hpp"
#include "search/packed_memory.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// What walks of one space share: the parts of the evaluation that many plans have in common, computed when
// first asked for and kept while there is room. Safe to use from any number of threads; the values do not
// depend on who asks first.
class Tables {
 public:
  Tables(const Problem& problem, std::vector<std::shared_ptr<const LayoutList>> lists);

  // Step costs of the shapes [first, last) of a block on this hardware: of the first layout of each. Those of
  // the shape's other layouts differ in the member `layout` alone.
  using Costs = std::vector<costmodel::LayoutCost>;
  std::shared_ptr<const Costs> costs(int hardware, std::size_t first_shape, std::size_t last_shape);

  // Memory of the same shapes, for each shape and each ZeRO stage it is listed with, in the list's order.
  // shard_ranks is that of the first layout of the stage; all else is the same for the others.
  std::shared_ptr<const PackedMemory> memories(int hardware, std::size_t first_shape, std::size_t last_shape);

  // The cycle of `units` failing units under the problem's protection at this position. Kept while there is
  // room.
  std::shared_ptr<const faults::CycleTable> cycle(int protection, std::int64_t units,
                                                  std::int64_t state_copies);

  // The least that checkpoints and lost work leave where saves are short: s <= kShortSave in
  // faults::efficiency, under any protection.
  static constexpr double kShortSave = 0.5;
  double least_efficiency() const { return least_efficiency_; }

 private:
  using CycleKey = std::tuple<int, std::int64_t, std::int64_t>;
  // Of a layout, all that its blocks' times depend on.
  using BlockKey = std::array<int, 8>;
  struct OnHardware {
    std::mutex guard;
    std::map<std::size_t, std::shared_ptr<const Costs>> costs;  // by first shape
    std::map<BlockKey, costmodel::BlockTimes> block_times;
  };
  costmodel::BlockTimes block_times(OnHardware& tables, const costmodel::Hardware& hardware,
                                    const costmodel::Layout& layout) const;

  void drop_costs();

  using Memories = std::map<std::size_t, std::shared_ptr<const PackedMemory>>;

  Problem problem_;
  faults::Efficiency one_failure_;
  double least_efficiency_;
  std::vector<int> same_cycle_;  // by protection: the first that differs in its spares alone
  std::vector<std::shared_ptr<const LayoutList>> lists_;
  std::vector<std::unique_ptr<OnHardware>> hardware_;
  std::mutex memories_guard_;
  std::map<const LayoutList*, Memories> memories_;  // no kind of hardware changes them
  std::mutex cycles_guard_;
  std::map<CycleKey, std::shared_ptr<const faults::CycleTable>> cycles_;
  std::size_t cycles_bytes_ = 0;
  std::size_t memories_bytes_ = 0;
  std::atomic<std::size_t> costs_bytes_ = 0;
};

}  // namespace trainfront::search
