#include "costmodel/step_time.hpp"

#include <algorithm>

#include "costmodel/data_parallel_time.hpp"
#include "costmodel/outer_sync.hpp"

namespace trainfront::costmodel {
namespace {

// Stages of the runs one by one, their transfers with the senders' passes.
std::span<const StageTime> expand(const LayoutCost& cost, double transfer_s,
                                  std::array<StageTime, kMaxStages>& storage) {
  const int p = std::min(cost.layout.pp, kMaxStages);
  int s = 0;
  for (int i = 0; i < cost.run_count; ++i) {
    const StageRun& run = cost.runs[static_cast<std::size_t>(i)];
    for (int k = 0; k < run.stages && s < p; ++k, ++s) {
      StageTime& stage = storage[static_cast<std::size_t>(s)] = run.time;
      if (s < p - 1) stage.forward_s += transfer_s;
      if (s > 0) stage.input_gradient_s += transfer_s;
    }
  }
  return {storage.data(), static_cast<std::size_t>(p)};
}

// Micro-batches too few for the curve: the schedule itself.
double short_flush(const LayoutCost& cost, const LayoutCost::Placed& placed, int micro_batches) {
  std::array<StageTime, kMaxStages> storage;
  const std::span<const StageTime> stages = expand(cost, placed.transfer_s, storage);
  return cost.layout.schedule == Schedule::kZeroBubble ? zero_bubble_time(stages, micro_batches)
                                                       : one_f_one_b_time(stages, micro_batches);
}

bool crosses_network(const LayoutCost& cost, std::int64_t dp) {
  return std::int64_t{cost.layout.group_gpus()} * dp > cost.hardware->domain_gpus;
}

}  // namespace

double flush_time(const LayoutCost& cost, bool crosses, std::int64_t micro_batches) {
  const LayoutCost::Placed& placed = cost.placed(crosses);
  if (micro_batches < placed.curve.min_micro_batches && placed.curve.any_count == 0) {
    return short_flush(cost, placed, static_cast<int>(micro_batches));
  }
  return placed.curve.time(static_cast<double>(micro_batches));
}

DataParallelCost data_parallel_cost(const LayoutCost& cost, std::int64_t dp, int islands) {
  const Layout& layout = cost.layout;
  const FrameworkProfile& framework = *cost.framework;
  const int domain = cost.hardware->domain_gpus;
  const std::int64_t inner = dp / islands;
  const bool per_micro_batch =
      layout.pp == 1 && (layout.zero == 3 || (layout.zero == 2 && framework.reduces_every_micro_batch));
  // FSDP moves a block at a time, the others a bucket.
  const double pieces = layout.zero == 3 ? cost.units : 1;

  DataParallelCost result;
  result.crosses_network = crosses_network(cost, dp);
  result.evidence = cost.evidence;
  const ReplicaGroup dense = dense_replicas(layout, inner, domain);
  const ReplicaRates dense_rates =
      replica_rates(dense, cost.largest.dense / pieces, layout.zero, *cost.hardware, framework);
  ReplicaGroup expert;
  ReplicaRates expert_rates;
  if (cost.largest.expert > 0) {
    expert = expert_replicas(layout, inner, domain);
    expert_rates =
        replica_rates(expert, cost.largest.expert / pieces, layout.zero, *cost.hardware, framework);
  }
  result.evidence = worst(result.evidence, worst(dense_rates.evidence, expert_rates.evidence));

  const double hidden = layout.zero == 0 ? framework.gradient_reduce_hidden : framework.sharded_reduce_hidden;
  double start_s = 0, end_s = 0;  // beyond the flush, the latest over the stages
  double before_forward = 0, after_backward = 0;
  for (int i = 0; i < cost.run_count; ++i) {
    const StageRun& run = cost.runs[static_cast<std::size_t>(i)];
    const LocalParameters& held = run.parameters;
    const double reduce_s = held.dense * dense_rates.reduce_s + held.expert * expert_rates.reduce_s;
    const double gather_s = held.dense * dense_rates.gather_s + held.expert * expert_rates.gather_s;
    const double buckets = std::max(
        1.0, held.dense / dense_rates.bucket + (held.expert > 0 ? held.expert / expert_rates.bucket : 0));
    const double forward_s = run.time.forward_s;
    const double backward_s = run.time.backward_s();
    double tail_s = 0, head_s = 0;
    if (per_micro_batch && layout.zero == 3) {
      result.per_micro_batch_s =
          exposed_gathers(gather_s, cost.units, forward_s, framework.fsdp_exposed) +
          exposed_gathers(gather_s + reduce_s, cost.units, backward_s, framework.fsdp_exposed);
    } else {
      const double exposed = exposed_after(reduce_s, buckets, backward_s, hidden);
      (per_micro_batch ? result.per_micro_batch_s : tail_s) = exposed;
      head_s =
          framework.parameter_gather_overlaps ? exposed_after(gather_s, buckets, forward_s, 1) : gather_s;
    }
    const double state = layout.zero == 0 ? held.total()
                                          : held.dense / static_cast<double>(dense.shard) +
                                                held.expert / static_cast<double>(expert.shard);
    const Timed update =
        memory_bound_time(cost.hardware->device, MemoryBound::kOptimizer, framework.optimizer_bytes * state);
    result.evidence = worst(result.evidence, update.evidence);
    tail_s += update.seconds;
    // A later stage starts later and ends earlier by the passes of those before it.
    start_s = std::max(start_s, head_s - before_forward);
    if (tail_s - after_backward > end_s) {
      end_s = tail_s - after_backward;
      result.optimizer_s = std::min(update.seconds, end_s);
    }
    before_forward += run.stages * forward_s / layout.vpp;
    after_backward += run.stages * run.time.input_gradient_s / layout.vpp;
  }
  result.optimizer_s += framework.optimizer_extra_s;
  result.fixed_s =
      start_s + end_s + cost.placed(result.crosses_network).tied_table_s + framework.optimizer_extra_s;
  return result;
}

StepTime step_time(const LayoutCost& cost, const DataParallelCost& data_parallel, std::int64_t dp,
                   std::int64_t global_batch, const Islands& islands) {
  const std::int64_t m = global_batch / (dp * cost.layout.micro_batch);
  const double steady_s = static_cast<double>(m) * cost.placed(data_parallel.crosses_network).curve.slope();
  StepTime time;
  time.per_stack_s = steady_s + static_cast<double>(m) * data_parallel.per_micro_batch_s;
  time.fixed_s = flush_time(cost, data_parallel.crosses_network, m) - steady_s + data_parallel.fixed_s +
                 outer_sync_per_step_s(islands, cost.total_parameters);
  time.evidence = data_parallel.evidence;
  return time;
}

StepTime step_time(const LayoutCost& cost, std::int64_t dp, std::int64_t global_batch,
                   const Islands& islands) {
  return step_time(cost, data_parallel_cost(cost, dp, islands.count), dp, global_batch, islands);
}

double step_time_lower_bound(const LayoutCost& cost, std::int64_t dp, std::int64_t global_batch) {
  const std::int64_t m = global_batch / (dp * cost.layout.micro_batch);
  return flush_time(cost, crosses_network(cost, dp), m) + cost.framework->optimizer_extra_s;
}

}  // namespace trainfront::costmodel
