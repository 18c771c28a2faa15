#include "costmodel/step_graph.hpp"

#include <algorithm>

#include "costmodel/outer_sync.hpp"
#include "costmodel/schedule.hpp"
#include "costmodel/stage_load.hpp"

namespace trainfront::costmodel {
namespace {

class Builder {
 public:
  Builder(const LayoutCost& cost, const std::vector<StageTime>& chunks, const LayoutCost::Placed& placed,
          int micro_batches)
      : layout_(cost.layout),
        chunks_(chunks),
        links_(cost.layout.vpp == 1 && transfers_overlap(cost.layout, *cost.framework)),
        blocking_(!transfers_overlap(cost.layout, *cost.framework)),
        transfer_s_(placed.transfer_s - placed.flight_s),
        flight_s_(placed.flight_s),
        micro_batches_(micro_batches),
        graph_(links_ ? 2 * cost.layout.pp : cost.layout.pp + 1),
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
    const double delay_s = blocking_ ? 0 : links_ ? flight_s_ : transfer_s_;
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

  // Over the link from `stage` to the next, or back over it, after what is sent is there.
  int send(int stage, int working) {
    GraphNode node = graph_.nodes()[static_cast<std::size_t>(working)];
    node.resource = layout_.pp + 1 + stage;
    node.seconds = transfer_s_;
    node.work = Work::kTransfer;
    const int sending = graph_.add(node);
    graph_.depend(working, sending);
    return sending;
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
    int sending = working;
    if (sends && blocking_) sending = node(Work::kTransfer, transfer_s_);
    if (sends && links_) sending = send(forward ? stage : stage - 1, working);
    first_[slot(position, operation.micro_batch, forward)] = moving >= 0 ? moving : working;
    last_[slot(position, operation.micro_batch, forward)] = sending;
  }

  const Layout& layout_;
  const std::vector<StageTime>& chunks_;
  bool links_;     // transfers take their turn on links
  bool blocking_;  // or the sender's time; else they arrive so much later
  double transfer_s_, flight_s_;
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
  Builder builder(cost, loads.chunks, placed, static_cast<int>(micro_batches(layout, global_batch)));
  for (int stage = 0; stage < layout.pp; ++stage) {
    StageRun run;
    run.parameters = loads.parameters[static_cast<std::size_t>(stage)];
    for (int chunk = stage; chunk < split.chunks; chunk += layout.pp) {
      const StageTime& time = loads.chunks[static_cast<std::size_t>(chunk)];
      run.time.forward_s += time.forward_s;
      run.time.input_gradient_s += time.input_gradient_s;
      run.time.weight_gradient_s += time.weight_gradient_s;
    }
    step.ends.push_back(stage_ends(cost, replicas, run));
    builder.add_stage(stage, step.ends.back());
  }
  builder.connect();
  step.graph = builder.finish(placed.tied_table_s, framework.optimizer_extra_s);
  step.timeline = run_graph(step.graph);
  return step;
}

}  // namespace trainfront::costmodel
