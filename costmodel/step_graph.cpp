#include "costmodel/step_graph.hpp"

#include <algorithm>

#include "costmodel/outer_sync.hpp"
#include "costmodel/schedule.hpp"
#include "costmodel/stage_ends.hpp"
#include "costmodel/stage_load.hpp"

namespace trainfront::costmodel {
namespace {

class Builder {
 public:
  Builder(const LayoutCost& cost, const std::vector<StageTime>& chunks, bool blocking, double transfer_s,
          int micro_batches)
      : layout_(cost.layout),
        chunks_(chunks),
        blocking_(blocking),
        transfer_s_(transfer_s),
        micro_batches_(micro_batches),
        graph_(cost.layout.pp + 1),
        first_(chunks.size() * static_cast<std::size_t>(micro_batches) * 2, -1),
        last_(first_) {}

  void add_stage(int stage, const StageEnds& ends) {
    if (ends.gather_s > 0) add(stage, Work::kGather, ends.gather_s, 0, 0);
    const Schedule schedule = layout_.vpp > 1 ? Schedule::kInterleaved : layout_.schedule;
    for (const StageOperation& operation :
         stage_order(schedule, layout_.pp, layout_.vpp, stage, micro_batches_)) {
      add_operation(stage, operation, ends);
    }
    if (ends.reduce_s > 0) add(stage, Work::kReduce, ends.reduce_s, 0, 0);
    ends_.push_back(add(stage, Work::kOptimizer, ends.optimizer_s, 0, 0));
  }

  void connect() {
    const int positions = static_cast<int>(chunks_.size());
    const double delay_s = blocking_ ? 0 : transfer_s_;
    for (int position = 0; position < positions; ++position) {
      for (int i = 0; i < micro_batches_; ++i) {
        if (position > 0) {
          graph_.depend(last_[slot(position - 1, i, true)], first_[slot(position, i, true)], delay_s);
        }
        if (position + 1 < positions) {
          graph_.depend(last_[slot(position + 1, i, false)], first_[slot(position, i, false)], delay_s);
        } else {
          graph_.depend(last_[slot(position, i, true)], first_[slot(position, i, false)]);
        }
      }
    }
  }

  // What all stages wait for: a table that both ends hold, and the optimiser's own fixed time.
  Graph finish(double tied_table_s, double optimizer_s) {
    const int end = layout_.pp;
    const int tied = add(end, Work::kReduce, tied_table_s, 0, 0);
    for (const int node : ends_) graph_.depend(node, tied);
    add(end, Work::kOptimizer, optimizer_s, 0, 0);
    return std::move(graph_);
  }

 private:
  int add(int stage, Work work, double seconds, int chunk, int micro_batch) {
    return graph_.add({stage, seconds, work, stage, chunk, micro_batch});
  }

  std::size_t slot(int position, int micro_batch, bool forward) const {
    return (static_cast<std::size_t>(position) * static_cast<std::size_t>(micro_batches_) +
            static_cast<std::size_t>(micro_batch)) *
               2 +
           (forward ? 0 : 1);
  }

  void add_operation(int stage, const StageOperation& operation, const StageEnds& ends) {
    const int position = operation.chunk * layout_.pp + stage;
    const StageTime& time = chunks_[static_cast<std::size_t>(position)];
    const auto node = [&](Work work, double seconds) {
      return add(stage, work, seconds, operation.chunk, operation.micro_batch);
    };
    if (operation.work == Work::kWeightGradient) {
      node(Work::kWeightGradient, time.weight_gradient_s);
      return;
    }
    const bool forward = operation.work == Work::kForward;
    const double moved_s = forward ? ends.every_forward_s : ends.every_backward_s;
    const int moving = moved_s > 0 ? node(forward ? Work::kGather : Work::kReduce, moved_s) : -1;
    const bool splits = layout_.schedule == Schedule::kZeroBubble && layout_.vpp == 1;
    const double seconds = forward ? time.forward_s : splits ? time.input_gradient_s : time.backward_s();
    const int working = node(operation.work, seconds);
    const int positions = static_cast<int>(chunks_.size());
    const bool sends = forward ? position + 1 < positions : position > 0;
    const int sending = sends && blocking_ ? node(Work::kTransfer, transfer_s_) : working;
    first_[slot(position, operation.micro_batch, forward)] = moving >= 0 ? moving : working;
    last_[slot(position, operation.micro_batch, forward)] = sending;
  }

  const Layout& layout_;
  const std::vector<StageTime>& chunks_;
  bool blocking_;
  double transfer_s_;
  int micro_batches_;
  Graph graph_;
  std::vector<int> first_, last_;  // nodes of a pass: what waits for data, what others wait for
  std::vector<int> ends_;
};

}  // namespace

std::int64_t step_graph_nodes(const Layout& layout, std::int64_t global_batch) {
  return micro_batches(layout, global_batch) * layout.pp * layout.vpp * 6;
}

StepGraph step_graph(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch, const Hardware& hardware, const FrameworkProfile& framework,
                     const Islands& islands) {
  const BlockTimes times = block_times(model, recipe, layout, hardware, framework);
  const LayoutCost cost = layout_cost(model, recipe, layout, hardware, framework, times);
  const DataParallelCost data_parallel = data_parallel_cost(cost, layout.dp, islands.count);
  const ReplicaCosts replicas = replica_costs(cost, layout.dp, islands.count);
  const StageLoads loads = stage_loads(model, layout, framework, times);
  const StageSplit split = split_layers(model, layout, framework.split);

  StepGraph step;
  step.splits_backward = layout.schedule == Schedule::kZeroBubble && layout.vpp == 1;
  step.outer_sync_s = outer_sync_per_step_s(islands, cost.total_parameters);
  for (int chunk = 0; chunk < split.chunks; ++chunk) {
    step.chunks.push_back(chunk_time(times, chunk_blocks(model, split, chunk)));
  }
  const LayoutCost::Placed& placed = cost.placed(data_parallel.crosses_network);
  const bool blocking = !(layout.vpp > 1 && framework.transfer_overlaps);
  Builder builder(cost, loads.chunks, blocking, placed.transfer_s,
                  static_cast<int>(micro_batches(layout, global_batch)));
  for (int stage = 0; stage < layout.pp; ++stage) {
    StageRun run;
    run.parameters = loads.parameters[static_cast<std::size_t>(stage)];
    for (int chunk = stage; chunk < split.chunks; chunk += layout.pp) {
      const StageTime& time = loads.chunks[static_cast<std::size_t>(chunk)];
      run.time.forward_s += time.forward_s;
      run.time.input_gradient_s += time.input_gradient_s;
      run.time.weight_gradient_s += time.weight_gradient_s;
    }
    builder.add_stage(stage, stage_ends(cost, replicas, run));
  }
  builder.connect();
  step.graph = builder.finish(placed.tied_table_s, framework.optimizer_extra_s);
  step.timeline = run_graph(step.graph);
  return step;
}

}  // namespace trainfront::costmodel
