#pragma once

#include <string>

#include "costmodel/layout.hpp"
#include "inputs/run_table.hpp"

namespace trainfront::inputs {

// What a table's framework, by name and year, means: whose rules and defaults hold, and the dated profile.
struct RunFramework {
  costmodel::Framework rules = costmodel::Framework::kMegatron;
  std::string profile;  // costmodel::find_profile
  int default_zero = 1;
  bool default_sequence_parallel = true;  // with tp > 1
  bool experts_follow_tp = false;         // expert tensor parallelism is tp unless stated
  costmodel::Recompute default_recompute = costmodel::Recompute::kNone;
  bool fills_pipeline = false;  // micro-batches not stated: as many as there are stages
  bool known = true;            // false: the name says nothing, and Megatron stands in
  bool era_known = true;        // false: which software of which date is open, and so the host's floor
};

RunFramework read_framework(const RunRow& row);

}  // namespace trainfront::inputs
