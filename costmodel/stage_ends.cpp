#include "costmodel/stage_ends.hpp"

#include <algorithm>

namespace trainfront::costmodel {

ReplicaCosts replica_costs(const LayoutCost& cost, std::int64_t dp, int islands) {
  const Layout& layout = cost.layout;
  const FrameworkProfile& framework = *cost.framework;
  const int domain = cost.hardware->domain_gpus;
  const std::int64_t inner = dp / islands;
  ReplicaCosts result;
  // FSDP moves a block at a time, the others a bucket; with ZeRO-2 FSDP2 gathers forward and keeps what it
  // gathered for the backward.
  result.by_block = layout.zero == 3 || (layout.zero == 2 && framework.framework == Framework::kTorchtitan);
  const double pieces = result.by_block ? cost.units : 1;
  result.every_micro_batch =
      layout.pp == 1 && (layout.zero == 3 || layout.zero >= framework.reduces_from_zero);
  result.dense = dense_replicas(layout, inner, domain);
  result.dense_rates =
      replica_rates(result.dense, cost.largest.dense / pieces, layout.zero, *cost.hardware, framework);
  if (cost.largest.expert > 0) {
    result.expert = expert_replicas(layout, inner, domain);
    result.expert_rates =
        replica_rates(result.expert, cost.largest.expert / pieces, layout.zero, *cost.hardware, framework);
  }
  result.evidence = worst(result.dense_rates.evidence, result.expert_rates.evidence);
  return result;
}

StageEnds stage_ends(const LayoutCost& cost, const ReplicaCosts& replicas, const StageRun& run) {
  const Layout& layout = cost.layout;
  const FrameworkProfile& framework = *cost.framework;
  const LocalParameters& held = run.parameters;
  const ReplicaRates& dense = replicas.dense_rates;
  const ReplicaRates& expert = replicas.expert_rates;
  const double reduce_s = held.dense * dense.reduce_s + held.expert * expert.reduce_s;
  const double gather_s = held.dense * dense.gather_s + held.expert * expert.gather_s;
  const double forward_s = run.time.forward_s;
  const double backward_s = run.time.backward_s();

  StageEnds ends;
  ends.all_gathers_s = gather_s;
  ends.all_reduces_s = reduce_s;
  if (replicas.every_micro_batch && replicas.by_block) {
    const double gather_again_s = layout.zero == 3 ? gather_s : 0;
    ends.every_forward_s =
        exposed_gathers(gather_s, cost.units, forward_s, framework.fsdp_exposed, framework.fsdp_norm);
    ends.every_backward_s = exposed_gathers(gather_again_s + reduce_s, cost.units, backward_s,
                                            framework.fsdp_exposed, framework.fsdp_norm);
  } else {
    const double buckets =
        std::max(1.0, held.dense / dense.bucket + (held.expert > 0 ? held.expert / expert.bucket : 0));
    const double hidden =
        layout.zero == 0 ? framework.gradient_reduce_hidden : framework.sharded_reduce_hidden;
    const auto slowed = [&](double exposed_s, double total_s) {
      return exposed_s + framework.overlap_contention * std::max(0.0, total_s - exposed_s);
    };
    const double exposed_s = slowed(exposed_after(reduce_s, buckets, backward_s, hidden), reduce_s);
    (replicas.every_micro_batch ? ends.every_backward_s : ends.reduce_s) = exposed_s;
    ends.gather_s = framework.parameter_gather_overlaps
                        ? slowed(exposed_after(gather_s, buckets, forward_s, 1), gather_s)
                        : gather_s;
  }
  const double state = layout.zero == 0 ? held.total()
                                        : held.dense / static_cast<double>(replicas.dense.shard) +
                                              held.expert / static_cast<double>(replicas.expert.shard);
  const Timed update =
      memory_bound_time(cost.hardware->device, MemoryBound::kOptimizer, framework.optimizer_bytes * state);
  ends.optimizer_s = update.seconds;
  ends.evidence = update.evidence;
  return ends;
}

}  // namespace trainfront::costmodel
