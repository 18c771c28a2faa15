#pragma once

#include <array>
#include <cstdint>

#include "costmodel/evidence.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/hardware.hpp"
#include "costmodel/islands.hpp"
#include "costmodel/layer_time.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/pipeline_time.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// The step's time with c times its micro-batches: fixed_s + c * per_stack_s. The pipeline fill, exposed
// gradient reduction and optimiser are paid once.
struct StepTime {
  double fixed_s = 0;
  double per_stack_s = 0;
  Evidence evidence = Evidence::kCalibrated;

  double with_stacks(double c) const { return fixed_s + c * per_stack_s; }
};

// Where the step's time goes; the parts sum to StepTime::with_stacks(1).
struct StepParts {
  double gemm_s = 0;
  double attention_s = 0;
  double memory_bound_s = 0;
  double tensor_parallel_s = 0;  // exposed
  double context_parallel_s = 0;
  double expert_parallel_s = 0;
  double pipeline_transfer_s = 0;
  double bubble_s = 0;         // fill, drain and imbalance between stages
  double data_parallel_s = 0;  // exposed gradient reduction and parameter gathering
  double optimizer_s = 0;
  double host_s = 0;        // launch-bound floor
  double outer_sync_s = 0;  // islands

  double total() const {
    return gemm_s + attention_s + memory_bound_s + tensor_parallel_s + context_parallel_s +
           expert_parallel_s + pipeline_transfer_s + bubble_s + data_parallel_s + optimizer_s + host_s +
           outer_sync_s;
  }
};

// Consecutive pipeline stages that are alike: per stage, one micro-batch's time without transfers, and
// parameters.
struct StageRun {
  int stages = 0;
  StageTime time;
  LocalParameters parameters;
};

// All of a step that does not depend on dp, batch or islands: computed once per (layout, hardware) in a
// search. hardware and framework must outlive it.
struct LayoutCost {
  static constexpr int kMaxRuns = 6;

  Layout layout;
  const Hardware* hardware = nullptr;
  const FrameworkProfile* framework = nullptr;
  double total_parameters = 0;            // of the model
  int units = 1;                          // blocks that FSDP gathers one by one, on the first stage
  std::array<StageRun, kMaxRuns> runs{};  // beyond kMaxRuns the last run charges its slowest stage
  int run_count = 0;
  LocalParameters largest;  // the most of either kind that a stage holds
  // The pipeline's flush, and what goes with it, with neighbours in one scale-up domain and across the
  // network.
  struct Placed {
    PipelineCurve curve;
    double transfer_s = 0;    // of one micro-batch to the next stage
    double flight_s = 0;      // of it, what does not keep the link busy: the delay, under overlapped GPipe
    double tied_table_s = 0;  // all-reduce of a table that both ends hold
  };
  Placed near, far;

  const Placed& placed(bool crosses_network) const { return crosses_network ? far : near; }
  Evidence evidence = Evidence::kCalibrated;
};
LayoutCost layout_cost(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework);
// The same from block times at hand: these depend on tp, cp and its kind, ep, etp, sp,
// micro_batch, recompute and its modules alone.
LayoutCost layout_cost(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework, const BlockTimes& times);

// What depends on dp and not on the batch: seconds beyond the pipeline's flush.
struct DataParallelCost {
  double fixed_s = 0;            // gathers, reduction, optimiser: once a step
  double per_micro_batch_s = 0;  // FSDP's gathers and scatters
  double optimizer_s = 0;        // of fixed_s, the optimiser's
  bool crosses_network = false;  // pipeline neighbours lie in different scale-up domains
  Evidence evidence = Evidence::kCalibrated;
};
DataParallelCost data_parallel_cost(const LayoutCost& cost, std::int64_t dp, int islands);

// The pipeline's flush of so many micro-batches, nothing else.
double flush_time(const LayoutCost& cost, bool crosses_network, std::int64_t micro_batches);

// About 100 ns, no allocation. layout.dp of the LayoutCost is not looked at; dp and global_batch (sequences)
// are legal for it. The second form is a few ns, for many batches with one dp.
StepTime step_time(const LayoutCost& cost, std::int64_t dp, std::int64_t global_batch,
                   const Islands& islands);
StepTime step_time(const LayoutCost& cost, const DataParallelCost& data_parallel, std::int64_t dp,
                   std::int64_t global_batch, const Islands& islands);

// Never above step_time(...).with_stacks(1): the pipeline's flush without data parallelism. A few ns for m >
// pp.
double step_time_lower_bound(const LayoutCost& cost, std::int64_t dp, std::int64_t global_batch);

// The slow way, with all parts: parts.total() == step_time(...).with_stacks(1) up to rounding.
StepParts step_parts(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch, const Hardware& hardware, const FrameworkProfile& framework,
                     const Islands& islands);

}  // namespace trainfront::costmodel
