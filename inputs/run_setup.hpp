#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"
#include "inputs/catalog.hpp"
#include "inputs/run_spelling.hpp"
#include "inputs/run_table.hpp"

namespace trainfront::inputs {

enum class RunQuantity { kStepTime, kTokensPerSecondPerGpu, kTflopsPerGpu, kMfuPercent };
std::string_view quantity_name(RunQuantity quantity);  // as it stands in the tables

// A measured run in the cost model's terms.
struct RunSetup {
  costmodel::Model model;
  costmodel::Recipe recipe;
  costmodel::Layout layout;
  costmodel::Hardware hardware;
  std::int64_t global_batch = 0;  // sequences
  std::int64_t gpus = 0;
  std::string framework_profile;  // its name
  bool era_known = true;          // false: which date's software ran is open, and with it the host's floor
  bool memory_open = false;       // what was recomputed or offloaded is not, or only in part, stated
  bool failed = false;            // out of memory, or for a cause not recorded; nothing was measured then
  RunQuantity quantity = RunQuantity::kStepTime;
  double measured = 0;               // in the table's unit
  FlopConvention flops;              // of MFU and TFLOP/s
  std::optional<double> memory_gib;  // the run's own peak, where the notes give it
  std::vector<std::string> assumed;  // what the table leaves open and a default filled
};

// The setup, or why the row cannot be modelled (then setup is empty). Blank cells take the framework's
// default.
struct RunReading {
  std::optional<RunSetup> setup;
  std::string reason;
};
RunReading read_setup(const RunRow& row, const Catalog& catalog);

}  // namespace trainfront::inputs
