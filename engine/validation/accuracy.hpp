#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/validation/prediction.hpp"

namespace trainfront::engine {

// Errors of some runs, in per cent of the measured value.
struct Accuracy {
  std::string name;
  std::size_t rows = 0;
  double median_ape = 0;
  double mean_ape = 0;
  double bias = 0;  // median signed error of the quantity: above 0 the predicted value is too high
  // Over cells (source, model, GPUs, sequence length) with two layouts or more; NaN without one.
  std::size_t cells = 0;
  double kendall_tau = 0;    // median over cells of three layouts or more
  double median_regret = 0;  // per cent that the layout we would choose is slower than the best measured
  double mean_regret = 0;
};

Accuracy accuracy_of(std::string name, std::span<const RunPrediction* const> runs);

// One Accuracy for every value of `key`, by name.
std::vector<Accuracy> accuracy_by(std::span<const RunPrediction> runs,
                                  const std::function<std::string(const RunPrediction&)>& key);

// Measured against predicted peak memory, where the table prints it.
struct MemoryAccuracy {
  std::size_t rows = 0;
  double median_ape = 0;
  double mean_ape = 0;
  double bias = 0;
};
MemoryAccuracy memory_accuracy(std::span<const RunPrediction> runs, bool with_stress);

// How many runs are said to fit, to be borderline, and not to fit.
struct FitCounts {
  std::size_t fits = 0, borderline = 0, does_not_fit = 0;

  void add(costmodel::Fit fit);
};

// Layouts nobody would run, marked so by the table: to be judged by rank.
bool is_stress(const RunPrediction& run);

}  // namespace trainfront::engine
