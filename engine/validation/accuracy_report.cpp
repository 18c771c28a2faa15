#include "engine/validation/accuracy_report.hpp"

#include <fmt/core.h>

#include <cmath>

#include "engine/reports/json_writer.hpp"
#include "engine/reports/text_table.hpp"
#include "inputs/csv.hpp"

namespace trainfront::engine {

namespace {

std::string_view evidence_name(costmodel::Evidence evidence) {
  switch (evidence) {
    case costmodel::Evidence::kCalibrated:
      return "calibrated";
    case costmodel::Evidence::kInterpolated:
      return "interpolated";
    case costmodel::Evidence::kExtrapolated:
      return "extrapolated";
    case costmodel::Evidence::kDataSheet:
      return "data sheet";
  }
  return "";
}

void write_group(JsonWriter& json, std::string_view key, const Accuracy& accuracy) {
  json.begin_object()
      .field(key, accuracy.name)
      .field("rows", accuracy.rows)
      .field("median_ape", accuracy.median_ape)
      .field("mean_ape", accuracy.mean_ape)
      .field("bias", accuracy.bias)
      .field("cells", accuracy.cells)
      .field("kendall_tau", accuracy.kendall_tau)
      .field("median_regret", accuracy.median_regret)
      .field("mean_regret", accuracy.mean_regret)
      .end_object();
}

void write_groups(JsonWriter& json, std::string_view list, std::string_view key,
                  const std::vector<Accuracy>& groups) {
  json.begin_array(list);
  for (const Accuracy& accuracy : groups) write_group(json, key, accuracy);
  json.end_array();
}

void write_memory(JsonWriter& json, std::string_view key, const MemoryAccuracy& memory) {
  json.begin_object(key)
      .field("rows", memory.rows)
      .field("median_ape", memory.median_ape)
      .field("mean_ape", memory.mean_ape)
      .field("bias", memory.bias)
      .end_object();
}

void write_fits(JsonWriter& json, std::string_view key, const FitCounts& counts) {
  json.begin_object(key)
      .field("fits", counts.fits)
      .field("borderline", counts.borderline)
      .field("does_not_fit", counts.does_not_fit)
      .end_object();
}

std::string fits_line(std::string_view what, const FitCounts& counts) {
  return fmt::format("Said of {}: {} fit, {} are borderline, {} do not fit.\n", what, counts.fits,
                     counts.borderline, counts.does_not_fit);
}

std::string text_line(const Accuracy& accuracy) {
  return fmt::format("{:<52} {:>5} {:>8} {:>8} {:>8} {:>6} {:>6} {:>8}\n", accuracy.name.substr(0, 52),
                     accuracy.rows, figure(accuracy.median_ape, 1), figure(accuracy.mean_ape, 1),
                     signed_figure(accuracy.bias), accuracy.cells, figure(accuracy.kendall_tau, 2),
                     figure(accuracy.median_regret, 1));
}

std::string text_groups(std::string_view title, const std::vector<Accuracy>& groups) {
  std::string text = fmt::format("\n{:<52} {:>5} {:>8} {:>8} {:>8} {:>6} {:>6} {:>8}\n", title, "rows",
                                 "median", "mean", "bias", "cells", "tau", "regret");
  for (const Accuracy& accuracy : groups) text += text_line(accuracy);
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : "; ") + text;
  return result;
}

}  // namespace

AccuracyReport report_accuracy(Predictions predictions) {
  AccuracyReport report;
  const std::vector<RunPrediction>& runs = predictions.runs;
  std::vector<const RunPrediction*> plain, stress;
  for (const RunPrediction& run : runs) (is_stress(run) ? stress : plain).push_back(&run);
  report.all = accuracy_of("all but stress layouts", plain);
  report.stress = accuracy_of("stress layouts", stress);
  // A source's stress layouts stand apart, as a line of their own.
  report.by_source = accuracy_by(runs, [](const RunPrediction& run) {
    return run.source + (is_stress(run) ? " (" + run.split + ")" : "");
  });
  report.by_split =
      accuracy_by(runs, [](const RunPrediction& run) { return run.split.empty() ? "not split" : run.split; });
  report.by_profile = accuracy_by(runs, [](const RunPrediction& run) { return run.framework_profile; });
  report.by_kind = accuracy_by(runs, [](const RunPrediction& run) {
    return is_stress(run) ? "stress" : run.is_moe ? "mixture of experts" : "dense";
  });
  report.memory = memory_accuracy(runs, false);
  report.memory_with_stress = memory_accuracy(runs, true);
  for (const RunPrediction& run : runs) report.ran.add(run.fit);
  for (const FailedRun& run : predictions.failed) report.failed.add(run.fit);
  report.predictions = std::move(predictions);
  return report;
}

std::string accuracy_json(const AccuracyReport& report) {
  const Predictions& predictions = report.predictions;
  JsonWriter json;
  json.begin_object().field("rows", predictions.rows).field("predicted", predictions.runs.size());
  json.field("rows_a_b", predictions.rows_of_quality)
      .field("predicted_a_b", predictions.predicted_of_quality);
  json.begin_object("not_modelled");
  for (const auto& [reason, count] : predictions.not_modelled) json.field(reason, count);
  json.end_object();
  json.field("median_ape", report.all.median_ape).field("mean_ape", report.all.mean_ape);
  json.field("bias", report.all.bias);
  json.begin_object("stress")
      .field("rows", report.stress.rows)
      .field("median_ape", report.stress.median_ape)
      .field("mean_ape", report.stress.mean_ape)
      .field("kendall_tau", report.stress.kendall_tau)
      .field("median_regret", report.stress.median_regret)
      .end_object();
  write_groups(json, "by_source", "source", report.by_source);
  write_groups(json, "by_split", "split", report.by_split);
  write_groups(json, "by_profile", "framework_profile", report.by_profile);
  write_groups(json, "by_kind", "kind", report.by_kind);
  write_memory(json, "memory", report.memory);
  write_memory(json, "memory_with_stress", report.memory_with_stress);
  write_fits(json, "ran", report.ran);
  write_fits(json, "failed", report.failed);
  return json.end_object().take();
}

std::string accuracy_text(const AccuracyReport& report) {
  const Predictions& predictions = report.predictions;
  std::string text =
      fmt::format("{} rows, {} predicted; of quality A and B {} of {}.\n", predictions.rows,
                  predictions.runs.size(), predictions.predicted_of_quality, predictions.rows_of_quality);
  for (const auto& [reason, count] : predictions.not_modelled) {
    text += fmt::format("  not modelled: {} ({})\n", reason, count);
  }
  text +=
      "Errors in per cent of the measured value; bias: median signed error, above 0 where the prediction is "
      "high.\n"
      "tau, regret: order of layouts within one source, model and number of GPUs, and the cost of our "
      "choice.\n";
  text += text_groups("source", report.by_source);
  text += text_groups("framework profile", report.by_profile);
  text += text_groups("split", report.by_split);
  std::vector<Accuracy> totals = report.by_kind;
  totals.push_back(report.all);
  text += text_groups("total", totals);
  if (report.memory_with_stress.rows > 0) {
    text += fmt::format(
        "\nPeak memory: {} rows, median error {} %, bias {} %; with stress layouts {} rows, {} %.\n",
        report.memory.rows, figure(report.memory.median_ape, 1), figure(report.memory.bias, 1),
        report.memory_with_stress.rows, figure(report.memory_with_stress.median_ape, 1));
  }
  text += '\n';
  if (!predictions.runs.empty()) text += fits_line("runs that ran", report.ran);
  if (!predictions.failed.empty()) text += fits_line("runs that failed", report.failed);
  return text;
}

std::string accuracy_rows_csv(const Predictions& predictions) {
  std::string text = inputs::csv_line({"id",
                                       "source",
                                       "quantity",
                                       "measured",
                                       "predicted",
                                       "ape",
                                       "model",
                                       "split",
                                       "gpus",
                                       "mfu",
                                       "mfu_full_attention",
                                       "framework_profile",
                                       "evidence",
                                       "measured_memory_gib",
                                       "predicted_memory_gib",
                                       "fit",
                                       "predicted_without_host",
                                       "era",
                                       "assumed",
                                       "status"});
  for (const RunPrediction& run : predictions.runs) {
    text += inputs::csv_line({run.id,
                              run.source,
                              run.quantity,
                              exact_decimal(run.measured),
                              exact_decimal(run.predicted),
                              exact_decimal(100 * run.ape()),
                              run.model,
                              run.split,
                              std::to_string(run.gpus),
                              exact_decimal(run.mfu),
                              exact_decimal(run.mfu_full_attention),
                              run.framework_profile,
                              std::string(evidence_name(run.evidence)),
                              run.measured_memory_gib ? exact_decimal(*run.measured_memory_gib) : "",
                              exact_decimal(run.predicted_memory_gib),
                              std::string(costmodel::fit_name(run.fit)),
                              exact_decimal(run.predicted_without_host),
                              run.era_known ? "known" : "open",
                              joined(run.assumed),
                              "ran"});
  }
  for (const FailedRun& run : predictions.failed) {
    text += inputs::csv_line({run.id,
                              run.source,
                              "",
                              "",
                              "",
                              "",
                              run.model,
                              run.split,
                              std::to_string(run.gpus),
                              "",
                              "",
                              run.framework_profile,
                              "",
                              "",
                              exact_decimal(run.predicted_memory_gib),
                              std::string(costmodel::fit_name(run.fit)),
                              "",
                              "",
                              joined(run.assumed),
                              "failed"});
  }
  return text;
}

}  // namespace trainfront::engine
