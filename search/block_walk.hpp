#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "costmodel/memory.hpp"
#include "costmodel/step_time.hpp"
#include "search/block_setup.hpp"
#include "search/unit_bounds.hpp"
#include "search/unit_kernel.hpp"
#include "search/walk.hpp"

namespace trainfront::search {

void keep_nearest(std::optional<NearMiss>& nearest, const std::optional<NearMiss>& other);

// One block's share of walk(). From the outside in: shape, sharding, batch, islands ("a step"); then all
// failure rates and protections of a step at once. Keeps the fastest plan of each cell and adds them to the
// front at the end.
class BlockWalk {
 public:
  BlockWalk(const Space& space, const Block& block, const Front& incumbent, const WalkOptions& options,
            Harvest& harvest);
  void run();

 private:
  // Layouts of the block that share group size and state sharding.
  struct Unit {
    Unit(const BlockSetup& setup, std::int64_t dp, int group_gpus, std::int64_t state_copy_groups,
         Tables& tables);

    UnitSetup setup;
    UnitKernel kernel;
    UnitBounds bounds;
    std::vector<Certainty> certainty;  // by cell
    double most_step_s = 0;            // up to which, and to most_work_s, it is known who makes progress
    double most_work_s = 0;
  };
  struct Best {
    double time_s = 0;
    std::uint64_t step = 0;
    int protection = 0;
  };
  // One batch of the shape at hand.
  struct BatchOfShape {
    double steps = 0;
    double flush_s = 0;      // at most a step's time
    double stack_share = 0;  // of the flush
    bool known = false;
  };

  void walk_shape(std::size_t shape, const costmodel::LayoutCost& cost);
  void walk_layout(const costmodel::Layout& layout, costmodel::LayoutCost& cost, std::size_t position);
  void walk_step(Unit& unit, const costmodel::LayoutCost& cost, std::size_t batch, std::size_t islands,
                 std::uint64_t step);
  void evaluate(Unit& unit, const costmodel::StepTime& step_time, double steps, std::uint64_t step);
  bool prune(Unit& unit, Bound bound, double work_s, double stack_share);
  bool progress_is_known(const Unit& unit, double least_work_s, double most_step_s, double most_work_s) const;
  void count_endless(const Unit& unit, double least_work_s);
  void count_illegal(costmodel::Rule rule, std::uint64_t plans);
  const BatchOfShape& batch_of_shape(const costmodel::LayoutCost& cost, std::size_t batch);
  costmodel::StepTime step_time(const costmodel::LayoutCost& cost, std::size_t batch, std::size_t islands);
  Unit& unit_of(const costmodel::Layout& layout);
  void keep(std::size_t cell, const UnitKernel& kernel, std::uint64_t step);
  void add_to_front();

  const Space& space_;
  const Problem& problem_;
  const WalkOptions& options_;
  Harvest& harvest_;
  BlockSetup setup_;
  double capacity_bytes_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Best> best_;              // by cell
  std::vector<double> dominated_from_;  // by cell
  std::uint64_t version_ = 1;           // of dominated_from_
  std::vector<double> steps_;           // by batch
  std::int64_t dp_ = 0;
  std::vector<BatchOfShape> batches_;  // of the shape at hand
  std::vector<std::optional<costmodel::DataParallelCost>>
      data_parallel_;  // of the layout at hand, by islands
  std::vector<UnitKernel::ProtectionTime> times_;
};

}  // namespace trainfront::search
