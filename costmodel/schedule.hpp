#pragma once

#include <span>
#include <vector>

#include "costmodel/graph.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/pipeline_time.hpp"

namespace trainfront::costmodel {

// One operation of a stage. kInputGradient stands for the whole backward where the schedule does not split
// it.
struct StageOperation {
  Work work = Work::kForward;
  int chunk = 0;
  int micro_batch = 0;

  bool operator==(const StageOperation&) const = default;
};
using StageOrder = std::vector<StageOperation>;

// The order in which a stage works. kInterleaved is Megatron-LM's with groups of `stages` micro-batches; a
// number that these do not divide must divide into micro_batches / stages equal groups, as torchtitan asks.
// chunks is 1 for all others.
StageOrder stage_order(Schedule schedule, int stages, int chunks, int stage, int micro_batches);

// Zero bubble within a memory of `in_flight` micro-batches (arXiv 2401.10241: p for ZB-1p, 2p for ZB-2p),
// decided greedily: an input gradient as soon as there is one, else a forward if memory allows, else a weight
// gradient. One order a stage. Depends on the times.
std::vector<StageOrder> greedy_zero_bubble_orders(std::span<const StageTime> stages, int micro_batches,
                                                  int in_flight);

// The flush as a graph: resource s is the compute stream of stage s; a micro-batch reaches the next stage, or
// comes back, transfer_s after it left. times[chunk * stages + stage].
Graph pipeline_graph(std::span<const StageOrder> orders, std::span<const StageTime> times, double transfer_s,
                     bool splits_backward);

// stage_order for all stages, as a graph.
Graph pipeline_graph(Schedule schedule, std::span<const StageTime> times, int stages, int micro_batches,
                     double transfer_s);

}  // namespace trainfront::costmodel
