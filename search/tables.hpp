#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "costmodel/layer_time.hpp"
#include "costmodel/step_time.hpp"
#include "faults/cycle.hpp"
#include "faults/efficiency.hpp"
#include "search/block_setup.hpp"
#include "search/certainty.hpp"
#include "search/environment.hpp"
#include "search/layout_list.hpp"
#include "search/lazy_table.hpp"
#include "search/lending_pool.hpp"
#include "search/packed_memory.hpp"
#include "search/problem.hpp"
#include "search/shared_cache.hpp"
#include "search/unit_setup.hpp"

namespace trainfront::search {

class UnitKernel;

// What walks of one space share: the parts of the evaluation that many plans have in common, computed when
// first asked for and kept while there is room. Safe to use from any number of threads; the values do not
// depend on who asks first.
class Tables {
 public:
  Tables(const Problem& problem, std::vector<std::shared_ptr<const LayoutList>> lists);
  ~Tables();

  // What plans on this hardware have in common at each GPU count, by position in Problem::gpus.
  using Setups = LazyTable<BlockSetup>;
  std::shared_ptr<Setups> setups(int hardware);
  const BlockSetup& setup(Setups& setups, int hardware, std::size_t gpus,
                          std::unique_ptr<const BlockSetup>& own) const;

  std::shared_ptr<const UnitSetup> unit_setup(const BlockSetup& setup, std::int64_t dp, int group_gpus,
                                              std::int64_t state_copy_groups);

  // Step costs of each shape on this hardware: of its first layout. Those of its other layouts differ in the
  // member `layout` alone.
  using Costs = LazyTable<costmodel::LayoutCost>;
  std::shared_ptr<Costs> costs(int hardware);
  const costmodel::LayoutCost& cost(Costs& costs, int hardware, std::size_t shape,
                                    std::unique_ptr<const costmodel::LayoutCost>& own);

  // Memory of each shape for each ZeRO stage that it is listed with, in the list's order. shard_ranks is that
  // of the first layout of the stage; all else is the same for the others.
  using Memories = LazyTable<PackedMemory>;
  std::shared_ptr<Memories> memories(int hardware);
  const PackedMemory& memory(Memories& memories, int hardware, std::size_t shape,
                             std::unique_ptr<const PackedMemory>& own) const;

  // The cycle of `units` failing units under the problem's protection at this position; `law` as
  // faults::law_in gives it.
  std::shared_ptr<const faults::CycleTable> cycle(int protection, std::int64_t units,
                                                  std::int64_t state_copies, const faults::FailureLaw& law);

  // The same number for protections whose cycles are the same: those that differ in spares and tier alone.
  int cycle_of(int protection) const { return same_cycle_[static_cast<std::size_t>(protection)]; }

  // search::mean_wait_s().
  double mean_wait_s(const faults::Protection& protection, const NodeFailures& node, std::int64_t nodes);

  // The protections of some layouts (ProtectionPart): kind of hardware, GPU count, failing units and their
  // nodes, state copies, and whether failures are masked.
  using PartKey = std::array<std::int64_t, 6>;

  // What is certain of their progress, by cell, as `learn()` finds it.
  template <class Learn>
  std::shared_ptr<const std::vector<Certainty>> certainty(const PartKey& part, const Learn& learn) {
    return certainties_.get(part, learn,
                            [](const auto& by_cell) { return by_cell.size() * sizeof(Certainty); });
  }

  // T(1) up to which all of them make progress since failures are mild, likewise.
  template <class Learn>
  double mild_step_s(const PartKey& part, const Learn& learn) {
    return *mild_steps_.get(part, learn, [](double) { return sizeof(double); });
  }

  // Their kernel, for one thread alone as long as it is lent; `make()` if none is there.
  using Kernels = LendingPool<UnitKernel, 6>;
  Kernels& kernels() { return kernels_; }

  // Their UnitKernel::least_factors() in one bucket of stack shares, likewise.
  template <class Learn>
  std::shared_ptr<const std::vector<double>> factors(const PartKey& part, int bucket, const Learn& learn) {
    return factors_.get({part[0], part[1], part[2], part[3], part[4], part[5], bucket}, learn,
                        [](const auto& by_cell) { return by_cell.size() * sizeof(double); });
  }

  // The least that checkpoints and lost work leave under any protection where s, of faults::efficiency, is no
  // more than this; 0 where it is too much to say.
  double least_efficiency(double most_s) const {
    const double rung = most_s * kRungs;
    if (!(rung <= kMostShortSave * kRungs)) return 0;
    return least_efficiency_[static_cast<std::size_t>(std::ceil(rung))];
  }

 private:
  std::shared_ptr<const costmodel::BlockTimes> block_times(int hardware, const costmodel::Layout& layout);
  std::shared_ptr<const faults::Survival> survival(const faults::Protection& protection, std::int64_t units,
                                                   std::int64_t state_copies);

  Problem problem_;
  faults::ShapeFits fits_;
  static constexpr int kRungs = 8;  // per unit of s
  static constexpr double kMostShortSave = 1.5;
  std::array<double, 13> least_efficiency_{};  // by rung
  std::vector<int> same_cycle_;  // by protection: the first that differs in spares and tier alone
  std::vector<std::shared_ptr<const LayoutList>> lists_;
  std::vector<int> same_list_;                          // by hardware: the first with this list
  SharedCache<costmodel::BlockTimes, 11> block_times_;  // by hardware and all that they depend on
  SharedCache<faults::CycleTable, 6>
      cycles_;  // by protection, units, state copies, and of the law what varies
  SharedCache<faults::Survival, 4> survivals_;  // by scheme and r, units, state copies; -1: of the part alone
  SharedCache<double, 5> waits_;                // by failures, preemptions, those together, nodes and spares
  SharedCache<UnitSetup, 4> unit_setups_;       // by hardware, GPU count, group and state copies
  SharedCache<double, 6> mild_steps_;
  SharedCache<std::vector<Certainty>, 6> certainties_;
  SharedCache<std::vector<double>, 7> factors_;
  Kernels kernels_;
  std::mutex guard_;
  std::vector<std::shared_ptr<Setups>> setups_;      // by hardware
  std::vector<std::shared_ptr<Costs>> costs_;        // likewise
  std::vector<std::shared_ptr<Memories>> memories_;  // by list: no hardware changes them
};

}  // namespace trainfront::search
