#include "engine/validation/accuracy_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "engine/reports/text_table.hpp"

namespace trainfront::engine {

namespace {

std::string table(std::string_view title, const std::vector<Accuracy>& groups) {
  std::string text = fmt::format(
      "| {} | rows | median APE | mean APE | bias | cells | tau | median regret "
      "|\n|-|-:|-:|-:|-:|-:|-:|-:|\n",
      title);
  for (const Accuracy& accuracy : groups) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", accuracy.name, accuracy.rows,
                        figure(accuracy.median_ape, 1), figure(accuracy.mean_ape, 1),
                        signed_figure(accuracy.bias), accuracy.cells, figure(accuracy.kendall_tau, 2),
                        figure(accuracy.median_regret, 1));
  }
  return text + "\n";
}

std::string counts(const Predictions& predictions) {
  std::string text = fmt::format(
      "{} rows were read and {} predicted; of the {} rows of quality A and B, {}. The others, by reason:\n\n",
      predictions.rows, predictions.runs.size(), predictions.rows_of_quality,
      predictions.predicted_of_quality);
  if (predictions.not_modelled.empty()) text += "- none\n";
  for (const auto& [reason, count] : predictions.not_modelled)
    text += fmt::format("- {}: {}\n", reason, count);
  return text + "\n";
}

// Runs that ended fitted, or there would be nothing to read.
std::string fits(const AccuracyReport& report) {
  const auto counts = [](const FitCounts& of) {
    return fmt::format("{} are said to fit, {} to be borderline and {} not to fit", of.fits, of.borderline,
                       of.does_not_fit);
  };
  const Predictions& predictions = report.predictions;
  std::string text =
      fmt::format("Of {} runs, all of which fitted, {}.", predictions.runs.size(), counts(report.ran));
  if (!predictions.failed.empty()) {
    text += fmt::format(" Of {} that failed, whatever the cause, {}.", predictions.failed.size(),
                        counts(report.failed));
  }
  return text + "\n\n";
}

// Runs whose date is open, and how often what was measured lies between GPU time alone and the prediction.
std::string brackets(std::span<const RunPrediction> runs) {
  std::size_t open = 0, slowed = 0, within = 0;
  for (const RunPrediction& run : runs) {
    open += !run.era_known;
    const auto [low, high] = std::minmax(run.predicted, run.predicted_without_host);
    if (high - low < 0.05 * high) continue;
    ++slowed;
    within += run.measured > 0.95 * low && run.measured < 1.05 * high;
  }
  return fmt::format(
      "## Software of another date\n\nGPU time alone and the prediction with the profile's host floor "
      "bracket "
      "what software of another date does. The date of {} runs is open. Of the {} runs that the host slows "
      "by "
      "5 % or more, {} were measured within the bracket, give or take 5 %.\n\n",
      open, slowed, within);
}

std::string memory(const AccuracyReport& report) {
  if (report.memory_with_stress.rows == 0) return "";
  return fmt::format(
      "## Memory\n\nPeak memory that the runs themselves printed, against the worst stage's: {} rows, median "
      "error {} %, "
      "mean {} %, bias {} %. With the stress layouts {} rows, median {} %.\n\n",
      report.memory.rows, figure(report.memory.median_ape, 1), figure(report.memory.mean_ape, 1),
      signed_figure(report.memory.bias), report.memory_with_stress.rows,
      figure(report.memory_with_stress.median_ape, 1));
}

}  // namespace

std::string accuracy_page(const AccuracyReport& report, const std::string& plot_file) {
  std::string text =
      "# Accuracy on published training runs\n\n"
      "This page is written by `trainfront validate FILES --page docs/accuracy.md`; do not edit it by "
      "hand.\n\n"
      "Errors are per cent of the measured value, on the quantity that the source states (step time, or "
      "tokens per "
      "second and GPU; TFLOP/s and MFU under the source's own count of FLOPs where there is nothing else). "
      "Bias is the "
      "median signed error, above 0 where the prediction is too high. A cell is one source, model, sequence "
      "length and "
      "number of GPUs: tau is Kendall's rank correlation over its layouts (median over cells of three or "
      "more), regret "
      "how much slower the layout that the model would choose is than the best measured one.\n\n"
      "Constants belong to a device profile or to a dated framework profile, never to a model or a source. "
      "Several "
      "profiles were read off these same runs, so their rows show how well the form fits; docs/validation.md "
      "says what "
      "was held out, and what came of it.\n\n";
  text += counts(report.predictions);
  text += fmt::format("![Measured against predicted speed]({})\n\n", plot_file);
  text += "## By source\n\n" + table("source", report.by_source);
  text += "## By framework profile\n\n" + table("profile", report.by_profile);
  text += "## By split\n\n" + table("split", report.by_split);
  std::vector<Accuracy> totals = report.by_kind;
  totals.push_back(report.all);
  text += "## In total\n\n" + table("kind", totals);
  text += memory(report);
  text += fits(report);
  text += brackets(report.predictions.runs);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace trainfront::engine
