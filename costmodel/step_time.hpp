#pragma once

#include <cstdint>

#include "costmodel/evidence.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Islands: dp groups split over sites that synchronise every inner_steps steps over a wide-area link (DiLoCo,
// arXiv 2311.08105). count 1: none.
struct Islands {
  int count = 1;
  int inner_steps = 1;
  double wan_bytes_per_s = 0;  // between two islands, one way
  double rtt_s = 0;
  int sync_bits = 32;          // per parameter exchanged

  bool operator==(const Islands&) const = default;
};

// The step's time with c times its micro-batches: fixed_s + c * per_stack_s. The pipeline fill, exposed gradient
// reduction and optimiser are paid once.
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
  double tensor_parallel_s = 0;   // exposed
  double context_parallel_s = 0;
  double expert_parallel_s = 0;
  double pipeline_transfer_s = 0;
  double bubble_s = 0;            // fill, drain and imbalance between stages
  double data_parallel_s = 0;     // exposed gradient reduction and parameter gathering
  double optimizer_s = 0;
  double host_s = 0;              // launch-bound floor
  double outer_sync_s = 0;        // islands

  double total() const {
    return gemm_s + attention_s + memory_bound_s + tensor_parallel_s + context_parallel_s + expert_parallel_s +
           pipeline_transfer_s + bubble_s + data_parallel_s + optimizer_s + host_s + outer_sync_s;
  }
};

// All of a step that does not depend on dp, batch or islands: computed once per (layout, hardware) in a search.
struct LayoutCost {
  // members: step_time.cpp's business
};
LayoutCost layout_cost(const Model& model, const Recipe& recipe, const Layout& layout, const Hardware& hardware,
                       const FrameworkProfile& framework);

// About 100 ns, no allocation. layout.dp of the LayoutCost is not looked at; dp and global_batch (sequences) are
// legal for it.
StepTime step_time(const LayoutCost& cost, std::int64_t dp, std::int64_t global_batch, const Islands& islands);

// The slow way, with all parts: parts.total() == step_time(...).with_stacks(1) up to rounding.
StepParts step_parts(const Model& model, const Recipe& recipe, const Layout& layout, std::int64_t global_batch,
                     const Hardware& hardware, const FrameworkProfile& framework, const Islands& islands);

}  // namespace trainfront::costmodel
