#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/diagnostics.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::inputs {

// Ranks of a trace's process group, as "Process Group Ranks" lists them: "[0, 8, 16, 24]". PyTorch cuts long
// lists short, "[0, 8, ..., 504]" (kTruncatLength in torch/csrc/profiler/util.h); these are filled up if all
// that is left keeps one stride. Empty: `size` ranks are not told.
std::vector<int> listed_ranks(std::string_view list, int size);

// The nodes of the job that was traced: as torchrun and Slurm number ranks, one node after the other.
struct TracedJob {
  int ranks = 0;        // 0: not known
  int nodes = 0;        // 0: not said
  int node_gpus = 8;    // ranks of a node
  bool assumed = true;  // node_gpus is the usual number, which nothing states
};

// `world_size` as the trace states it (0: it does not). Counts that contradict one another are a fault, and
// nothing of the file may be used.
std::optional<TracedJob> traced_job(const std::string& file, int world_size, const MeasurementDefaults& said,
                                    Diagnostics& faults);

// Nodes that a group of `size` ranks lies on, or why that cannot be told or modelled (nodes 0).
struct GroupSpread {
  int nodes = 0;
  std::string_view problem = {};
};
// `ranks` as listed_ranks gives them.
GroupSpread spread_of(const std::vector<int>& ranks, int size, const TracedJob& job, std::string_view fabric,
                      int domain_gpus);

}  // namespace trainfront::inputs
