#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "costmodel/memory.hpp"
#include "costmodel/step_time.hpp"
#include "search/block_setup.hpp"
#include "search/near_best.hpp"
#include "search/protection_part.hpp"
#include "search/unit_setup.hpp"
#include "search/walk.hpp"

namespace trainfront::search {

void keep_nearest(std::optional<NearMiss>& nearest, const std::optional<NearMiss>& other);

// walk()'s share of one kind of hardware and GPU count. From the outside in: shape, sharding, batch, islands
// ("a step"); then all failure rates and protections of a step at once. Keeps the fastest plan of each cell.
class BlockWalk {
 public:
  // What `incumbent` and the harvest's own front dominate is left out; with `neighbours`, what lies outside
  // their vicinity, and they get what would have gone into the front.
  BlockWalk(const Space& space, int hardware, std::size_t gpus, const Front& incumbent,
            const WalkOptions& options, Harvest& harvest, Neighbours* neighbours = nullptr);
  bool is_at(const Block& block) const { return block.hardware == hardware_ && block.gpus == gpus_; }
  // False: given up half-way (WalkOptions).
  bool run(const Block& block);
  // Adds the cells' plans to the harvest's front; once, after the last block.
  void add_to_front();

 private:
  struct Unit {
    std::shared_ptr<const UnitSetup> setup;
    std::unique_ptr<ProtectionPart> masking;  // none: no legal pair
  };
  struct Best {  // of a cell
    double time_s = 0;
    std::uint64_t step = 0;
    int protection = 0;
  };
  struct Flush {             // of the shape at hand with one batch
    double time_s = 0;       // at most a step's time
    double stack_share = 0;  // of it: T(c) >= time_s (1 + stack_share (c - 1))
    bool known = false;
  };
  // A step at hand.
  struct Step {
    std::size_t batch = 0;
    std::size_t islands = 0;
    std::uint64_t number = 0;  // from the first plan of this hardware and GPU count, in steps
    std::optional<costmodel::StepTime> time;
  };

  bool some_batch_divides(const costmodel::Layout& shape) const;
  std::uint64_t plans_of(std::size_t first_shape, std::size_t last_shape) const;
  void walk_shape(std::size_t shape);
  void walk_layout(const costmodel::LayoutMemory& memory, std::size_t position);
  bool is_given_up();
  bool prune(ProtectionPart& part, Step& step);
  bool prune_by_step(ProtectionPart& part, Step& step);
  void evaluate(ProtectionPart& part, Step& step);
  void keep(std::size_t cell, const UnitKernel& kernel, std::uint64_t step);
  void keep_neighbour(std::size_t cell, const UnitKernel& kernel, std::uint64_t step);
  void count_endless(std::size_t cell, const UnitKernel& kernel);
  void count_illegal(costmodel::Rule rule, std::uint64_t plans);
  void count_pruned(const ProtectionPart& part, Bound bound, double work_s, double step_s);
  const costmodel::LayoutCost& cost();
  const Flush& flush(std::size_t batch);
  const costmodel::StepTime& time_of(Step& step);
  Unit& unit_of(const costmodel::Layout& layout);

  const Space& space_;
  const Problem& problem_;
  const int hardware_;
  const std::size_t gpus_;
  const WalkOptions& options_;
  Harvest& harvest_;
  std::int64_t until_asked_ = 0;
  bool given_up_ = false;
  Neighbours* neighbours_;
  std::shared_ptr<Tables::Setups> setups_;
  std::unique_ptr<const BlockSetup> own_setup_;
  const BlockSetup& setup_;
  double capacity_bytes_;
  std::uint64_t first_index_;
  std::vector<double> steps_;  // by batch
  std::unique_ptr<ProtectionPart> plain_;
  std::vector<Unit> units_;
  std::vector<Best> best_;  // by cell
  DominatedTimes dominated_;
  std::shared_ptr<Tables::Costs> costs_;
  std::shared_ptr<Tables::Memories> memories_;
  // What is at hand: made when first needed, since most shapes fit neither the batch nor the memory.
  std::unique_ptr<const costmodel::LayoutCost> own_cost_;
  std::unique_ptr<const PackedMemory> own_memory_;
  std::size_t shape_ = 0;
  std::int64_t dp_ = 0;
  costmodel::Layout layout_;
  costmodel::LayoutCost cost_;
  bool cost_is_of_shape_ = false;
  std::vector<Flush> flushes_;  // by batch
  std::vector<std::optional<costmodel::DataParallelCost>>
      data_parallel_;  // of the layout at hand, by islands
  std::vector<UnitKernel::ProtectionTime> times_;
};

}  // namespace trainfront::search
