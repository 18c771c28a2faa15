#pragma once

#include <cstdint>

#include "costmodel/data_parallel_time.hpp"
#include "costmodel/step_time.hpp"

namespace trainfront::costmodel {

// How the copies of a layout's parameters lie and what moving them costs, for one dp.
struct ReplicaCosts {
  ReplicaGroup dense, expert;
  ReplicaRates dense_rates, expert_rates;
  bool every_micro_batch = false;  // parameters or gradients move with every micro-batch, not once a step
  bool by_block = false;           // block by block (FSDP), not in buckets
  Evidence evidence = Evidence::kCalibrated;
};
ReplicaCosts replica_costs(const LayoutCost& cost, std::int64_t dp, int islands);

// What a stage does for data parallelism, beyond what its passes hide.
struct StageEnds {
  double gather_s = 0;         // before its first forward
  double reduce_s = 0;         // after its last backward
  double optimizer_s = 0;      // then
  double every_forward_s = 0;  // FSDP, ZeRO-2: with every micro-batch
  double every_backward_s = 0;
  double all_gathers_s = 0;  // of its parameters, hidden or not: once
  double all_reduces_s = 0;
  Evidence evidence = Evidence::kCalibrated;
};
StageEnds stage_ends(const LayoutCost& cost, const ReplicaCosts& replicas, const StageRun& run);

}  // namespace trainfront::costmodel
