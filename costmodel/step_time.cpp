#include "costmodel/step_time.hpp"

#include <algorithm>

#include "costmodel/outer_sync.hpp"
#include "costmodel/stage_ends.hpp"

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
  const ReplicaCosts replicas = replica_costs(cost, dp, islands);
  DataParallelCost result;
  result.crosses_network = crosses_network(cost, dp);
  result.evidence = worst(cost.evidence, replicas.evidence);
  double start_s = 0, end_s = 0;  // beyond the flush, the latest over the stages
  double before_forward_s = 0, after_backward_s = 0;
  for (int i = 0; i < cost.run_count; ++i) {
    const StageRun& run = cost.runs[static_cast<std::size_t>(i)];
    const StageEnds ends = stage_ends(cost, replicas, run);
    result.evidence = worst(result.evidence, ends.evidence);
    result.per_micro_batch_s =
        std::max(result.per_micro_batch_s, ends.every_forward_s + ends.every_backward_s);
    // A later stage starts later and ends earlier by the passes of those before it.
    start_s = std::max(start_s, ends.gather_s - before_forward_s);
    const double tail_s = ends.reduce_s + ends.optimizer_s - after_backward_s;
    if (tail_s > end_s) {
      end_s = tail_s;
      result.optimizer_s = std::min(ends.optimizer_s, tail_s);
    }
    before_forward_s += run.stages * run.time.forward_s / cost.layout.vpp;
    after_backward_s += run.stages * run.time.input_gradient_s / cost.layout.vpp;
  }
  const Stalls& stalls = cost.framework->stalls;
  double stalled_reduce_s = 0;
  if (stalls.seconds > 0 && cost.layout.pp == 1 && cost.layout.zero == 0 && dp >= stalls.from_replicas &&
      cost.layout.group_gpus() * dp >= stalls.from_gpus) {
    result.per_micro_batch_s += (cost.layout.tp > cost.hardware->domain_gpus ? 2 : 1) * stalls.seconds;
    stalled_reduce_s = stalls.reduce_s_per_parameter * cost.largest.total();
  }
  const double extra_s = cost.framework->optimizer_extra_s;
  result.optimizer_s += extra_s;
  result.fixed_s =
      start_s + end_s + cost.placed(result.crosses_network).tied_table_s + extra_s + stalled_reduce_s;
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
