#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/validation/accuracy.hpp"
#include "engine/validation/prediction.hpp"

namespace trainfront::engine {

// All that a comparison with training runs yields.
struct AccuracyReport {
  Predictions predictions;
  Accuracy all;  // rows that are not stress layouts
  Accuracy stress;
  std::vector<Accuracy> by_source, by_split, by_profile;
  std::vector<Accuracy> by_kind;  // dense and MoE
  MemoryAccuracy memory, memory_with_stress;
  FitCounts ran, failed;
};
AccuracyReport report_accuracy(Predictions predictions);

std::string accuracy_json(const AccuracyReport& report);

// For a terminal.
std::string accuracy_text(const AccuracyReport& report);

// id,source,quantity,measured,predicted,ape and what explains them; ape in per cent. Runs that failed come
// last, without what only a run that ended has.
std::string accuracy_rows_csv(const Predictions& predictions);

}  // namespace trainfront::engine
