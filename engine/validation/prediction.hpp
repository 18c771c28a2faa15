#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/evidence.hpp"
#include "costmodel/memory.hpp"
#include "inputs/catalog.hpp"
#include "inputs/run_table.hpp"

namespace trainfront::engine {

// One measured run beside what the model says of it.
struct RunPrediction {
  std::string id, source, model, quality, split, framework_profile;
  std::string quantity;
  double measured = 0;  // in the quantity's unit
  double predicted = 0;
  double measured_tokens_per_s_per_gpu =
      0;  // the quantity turned into speed; for ranking layouts and the plot
  double predicted_tokens_per_s_per_gpu = 0;
  // Of the same setup with a host that is never late; with the prediction it brackets what software of
  // another date does.
  double predicted_without_host = 0;
  bool era_known = true;
  // Predicted, of the dense peak at the run's precision, as in front.csv: half of the scores counted, and
  // all.
  double mfu = 0;
  double mfu_full_attention = 0;
  std::int64_t gpus = 0;
  int sequence_length = 0;
  int micro_batches = 0;
  costmodel::Evidence evidence = costmodel::Evidence::kCalibrated;
  bool is_moe = false;
  std::optional<double> measured_memory_gib;
  double predicted_memory_gib = 0;
  costmodel::Fit fit = costmodel::Fit::kFits;  // what the model says of a run that fitted
  std::vector<std::string> assumed;

  double signed_error() const { return (predicted - measured) / measured; }
  double ape() const { return signed_error() < 0 ? -signed_error() : signed_error(); }
};

// One run that is known to have failed, for want of memory or for a cause not recorded.
struct FailedRun {
  std::string id, source, model, split, framework_profile;
  std::int64_t gpus = 0;
  double predicted_memory_gib = 0;
  costmodel::Fit fit = costmodel::Fit::kDoesNotFit;
  std::vector<std::string> assumed;
};

// What became of a table's rows.
struct Predictions {
  std::size_t rows = 0;
  std::size_t rows_of_quality = 0;  // A and B
  std::size_t predicted_of_quality = 0;
  std::vector<RunPrediction> runs;
  std::vector<FailedRun> failed;                    // not among the rows of quality
  std::map<std::string, std::size_t> not_modelled;  // by reason
  std::map<std::string, std::size_t>
      unknown_profiles;  // profiles that do not exist: the framework's default stood in

  void merge(Predictions other);
};

Predictions predict_runs(const inputs::RunTable& table, const inputs::Catalog& catalog);

}  // namespace trainfront::engine
