#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "costmodel/layer_time.hpp"
#include "costmodel/step_time.hpp"
#include "faults/cycle.hpp"
#include "search/layout_list.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// What walks of one space share: the parts of the evaluation that many plans have in common, computed when
// first asked for and kept. Safe to use from any number of threads; the values do not depend on who asks
// first.
class Tables {
 public:
  Tables(const Problem& problem, std::vector<std::shared_ptr<const LayoutList>> lists);

  // Step costs of shapes [first, last) on this hardware, a block's: of the first layout of each. Those of the
  // shape's other layouts differ in the member `layout` alone.
  const std::vector<costmodel::LayoutCost>& costs(int hardware, std::size_t first_shape,
                                                  std::size_t last_shape);

  // The cycle of `units` failing units under the problem's protection at this position. The table stays where
  // it is.
  const faults::CycleTable& cycle(int protection, std::int64_t units, std::int64_t state_copies);

 private:
  using CycleKey = std::tuple<int, std::int64_t, std::int64_t>;
  // Of a layout, all that its blocks' times depend on.
  using BlockKey = std::array<int, 8>;
  struct OnHardware {
    std::mutex guard;
    std::map<std::size_t, std::unique_ptr<const std::vector<costmodel::LayoutCost>>> costs;  // by first shape
    std::map<BlockKey, costmodel::BlockTimes> block_times;
  };
  costmodel::BlockTimes block_times(OnHardware& tables, const costmodel::Hardware& hardware,
                                    const costmodel::Layout& layout) const;

  Problem problem_;
  std::vector<std::shared_ptr<const LayoutList>> lists_;
  std::vector<std::unique_ptr<OnHardware>> hardware_;
  std::mutex cycles_guard_;
  std::map<CycleKey, std::unique_ptr<const faults::CycleTable>> cycles_;
};

}  // namespace trainfront::search
