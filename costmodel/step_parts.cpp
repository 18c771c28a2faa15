#include <algorithm>

#include "costmodel/outer_sync.hpp"
#include "costmodel/stage_load.hpp"
#include "costmodel/step_time.hpp"

namespace trainfront::costmodel {
namespace {

// The stage with the most work for a micro-batch: the one that paces the steady state.
int busiest_stage(const StageLoads& loads, int stages) {
  std::vector<double> work(static_cast<std::size_t>(stages), 0.0);
  for (std::size_t chunk = 0; chunk < loads.chunks.size(); ++chunk) {
    work[chunk % work.size()] += loads.chunks[chunk].total();
  }
  return static_cast<int>(std::max_element(work.begin(), work.end()) - work.begin());
}

}  // namespace

// The parts of the busiest stage's own work; transfers are what the flush loses to them; the bubble is what
// is left of the flush.
StepParts step_parts(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch, const Hardware& hardware, const FrameworkProfile& framework,
                     const Islands& islands) {
  const BlockTimes times = block_times(model, recipe, layout, hardware, framework);
  const LayoutCost cost = layout_cost(model, recipe, layout, hardware, framework, times);
  const DataParallelCost data_parallel = data_parallel_cost(cost, layout.dp, islands.count);
  const StageLoads loads = stage_loads(model, layout, framework, times);
  const StageSplit split = split_layers(model, layout, framework.split);
  const std::int64_t micro = micro_batches(layout, global_batch);
  const auto m = static_cast<double>(micro);

  BlockTime stage;
  for (int chunk = busiest_stage(loads, layout.pp); chunk < split.chunks; chunk += layout.pp) {
    stage.add(chunk_time(times, chunk_blocks(model, split, chunk)));
  }
  PartTimes work;
  for (const PartTimes& pass : stage.pass) work.add(pass, m);

  LayoutCost no_transfers = cost;
  no_transfers.far.transfer_s = 0;
  no_transfers.far.curve =
      pipeline_curve(layout.schedule, loads.chunks, layout.pp, 0, transfers_overlap(layout, framework));
  const double without_s = flush_time(no_transfers, true, micro);
  const double flush_s = flush_time(cost, data_parallel.crosses_network, micro);

  StepParts parts;
  parts.gemm_s = work[Part::kGemm];
  parts.attention_s = work[Part::kAttention];
  parts.memory_bound_s = work[Part::kMemoryBound];
  parts.tensor_parallel_s = work[Part::kTensorParallel];
  parts.context_parallel_s = work[Part::kContextParallel];
  parts.expert_parallel_s = work[Part::kExpertParallel];
  parts.host_s = work[Part::kHost];
  // Uneven interleaved stages are approximated, and may gain a little from a transfer.
  const double waiting_s = std::max(0.0, flush_s - work.total());
  parts.pipeline_transfer_s = std::clamp(flush_s - without_s, 0.0, waiting_s);
  parts.bubble_s = waiting_s - parts.pipeline_transfer_s;
  parts.optimizer_s = data_parallel.optimizer_s;
  parts.data_parallel_s =
      data_parallel.fixed_s - data_parallel.optimizer_s + m * data_parallel.per_micro_batch_s;
  parts.outer_sync_s = outer_sync_per_step_s(islands, cost.total_parameters);
  return parts;
}

}  // namespace trainfront::costmodel
