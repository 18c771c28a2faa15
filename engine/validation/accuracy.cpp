#include "engine/validation/accuracy.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "engine/validation/statistics.hpp"

namespace trainfront::engine {

namespace {

struct Cell {
  std::vector<double> predicted, measured;
};

std::vector<Cell> cells_of(std::span<const RunPrediction* const> runs) {
  std::map<std::tuple<std::string, std::string, std::int64_t, int>, Cell> cells;
  for (const RunPrediction* run : runs) {
    Cell& cell = cells[{run->source, run->model, run->gpus, run->sequence_length}];
    cell.predicted.push_back(run->predicted_tokens_per_s_per_gpu);
    cell.measured.push_back(run->measured_tokens_per_s_per_gpu);
  }
  std::vector<Cell> result;
  for (auto& [key, cell] : cells) {
    if (cell.measured.size() >= 2) result.push_back(std::move(cell));
  }
  return result;
}

void add_ranking(Accuracy& accuracy, std::span<const RunPrediction* const> runs) {
  std::vector<double> taus, regrets;
  for (const Cell& cell : cells_of(runs)) {
    regrets.push_back(100 * regret(cell.predicted, cell.measured));
    if (cell.measured.size() < 3) continue;
    const double tau = kendall_tau(cell.predicted, cell.measured);
    if (std::isfinite(tau)) taus.push_back(tau);
  }
  accuracy.cells = regrets.size();
  accuracy.kendall_tau = median(taus);
  accuracy.median_regret = median(regrets);
  accuracy.mean_regret = mean(regrets);
}

}  // namespace

Accuracy accuracy_of(std::string name, std::span<const RunPrediction* const> runs) {
  Accuracy accuracy;
  accuracy.name = std::move(name);
  accuracy.rows = runs.size();
  std::vector<double> errors, signed_errors;
  for (const RunPrediction* run : runs) {
    errors.push_back(100 * run->ape());
    signed_errors.push_back(100 * run->signed_error());
  }
  accuracy.median_ape = median(errors);
  accuracy.mean_ape = mean(errors);
  accuracy.bias = median(signed_errors);
  add_ranking(accuracy, runs);
  return accuracy;
}

std::vector<Accuracy> accuracy_by(std::span<const RunPrediction> runs,
                                  const std::function<std::string(const RunPrediction&)>& key) {
  std::map<std::string, std::vector<const RunPrediction*>> groups;
  for (const RunPrediction& run : runs) groups[key(run)].push_back(&run);
  std::vector<Accuracy> result;
  for (const auto& [name, members] : groups) result.push_back(accuracy_of(name, members));
  return result;
}

bool is_stress(const RunPrediction& run) {
  return run.split.find("stress") != std::string::npos;
}

MemoryAccuracy memory_accuracy(std::span<const RunPrediction> runs, bool with_stress) {
  std::vector<double> errors, signed_errors;
  for (const RunPrediction& run : runs) {
    if (!run.measured_memory_gib || !(*run.measured_memory_gib > 0)) continue;
    if (!with_stress && is_stress(run)) continue;
    const double error = 100 * (run.predicted_memory_gib / *run.measured_memory_gib - 1);
    signed_errors.push_back(error);
    errors.push_back(std::abs(error));
  }
  return {.rows = errors.size(),
          .median_ape = median(errors),
          .mean_ape = mean(errors),
          .bias = median(signed_errors)};
}

void FitCounts::add(costmodel::Fit fit) {
  switch (fit) {
    case costmodel::Fit::kFits:
      ++fits;
      return;
    case costmodel::Fit::kBorderline:
      ++borderline;
      return;
    case costmodel::Fit::kDoesNotFit:
      ++does_not_fit;
      return;
  }
}

}  // namespace trainfront::engine
