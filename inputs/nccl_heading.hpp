#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/collective_time.hpp"

namespace trainfront::inputs {

// What nccl-tests prints before a run's rows.
struct NcclHeading {
  std::set<int> ranks;  // of "# Rank 0 ... on host"
  std::set<std::string> hosts;
  std::string gpu;
  std::optional<costmodel::Collective> collective;
  std::string other_program;  // "broadcast": what it measures is not modelled
  bool failed = false;        // the run ended in an error
};

// Takes from a line what it says.
void read_nccl_heading(std::string_view line, NcclHeading& heading);

// True if a new run begins here at the latest: several may stand in one file.
bool begins_nccl_run(std::string_view line);

// Settings that take choices from NCCL, as "NCCL_ALGO=Ring", of a line of a job's script or of NCCL's own.
std::vector<std::string> nccl_settings(std::string_view line);

// By the name of nccl-tests' program without "_perf", or of a table's operation.
std::optional<costmodel::Collective> nccl_collective(std::string_view name);

std::vector<std::string> nccl_collectives();

}  // namespace trainfront::inputs
