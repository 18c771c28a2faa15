#include "engine/commands/calibrate_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/reports/json_writer.hpp"

namespace trainfront::engine {
namespace {

using costmodel::ErrorSummary;
using costmodel::FitScore;

void add_summary(JsonWriter& json, const char* name, const ErrorSummary& summary) {
  json.begin_object(name)
      .field("rows", summary.count)
      .field("mean_ape", summary.mean)
      .field("median_ape", summary.median)
      .field("bias", summary.bias)
      .end_object();
}

std::string errors_text(const ErrorSummary& summary) {
  return summary.count == 0 ? std::string("-") : fmt::format("{:.1f} / {:.1f}", summary.mean, summary.median);
}

}  // namespace

std::string fit_json(const ProfileFit& fit, const std::string& output,
                     const inputs::Measurements& measurements, std::size_t bad_lines) {
  JsonWriter json;
  json.begin_object()
      .field("device", fit.device.id)
      .field("profile", output)
      .field("rows", measurements.rows);
  json.field("bad_lines", bad_lines).begin_object("not_modelled");
  for (const auto& [reason, rows] : measurements.not_modelled) json.field(reason, rows);
  json.end_object().begin_array("held_out");
  for (const FitScore& score : fit.scores) {
    json.begin_object()
        .field("op", score.operation)
        .field("precision", score.precision)
        .field("form", score.form);
    json.field("samples", score.samples);
    add_summary(json, "by_shape", score.by_shape);
    add_summary(json, "by_size", score.by_size);
    if (score.by_own_size.count > 0) add_summary(json, "by_own_size", score.by_own_size);
    json.begin_array("other_sources");
    for (const FitScore::OtherSource& other : score.other_sources) {
      json.begin_object().field("source", other.source).field("scale", other.scale);
      add_summary(json, "after_scale", other.after_scale);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().begin_array("notes");
  for (const std::string& note : fit.notes) json.value(note);
  return json.end_array().end_object().take();
}

std::string fit_table(const ProfileFit& fit, const std::string& output) {
  std::size_t operations = 15, forms = 31;
  for (const FitScore& score : fit.scores) {
    operations = std::max(operations, score.operation.size());
    forms = std::max(forms, score.form.size());
  }
  constexpr std::string_view kRow = "{:<{}} {:<5} {:>7}  {:<{}} {:>17} {:>17}\n";
  std::string text = fmt::format(kRow, "operation", operations, "prec", "samples", "form", forms,
                                 "held-out shapes", "held-out sizes");
  text += fmt::format(kRow, "", operations, "", "", "", forms, "mean / median %", "mean / median %");
  for (const FitScore& score : fit.scores) {
    text += fmt::format(kRow, score.operation, operations, score.precision, score.samples, score.form, forms,
                        errors_text(score.by_shape), errors_text(score.by_size));
    if (score.by_own_size.count > 0) {
      text += fmt::format("    sizes that relatives measured: {}\n", errors_text(score.by_own_size));
    }
    for (const FitScore::OtherSource& other : score.other_sources) {
      text += fmt::format("    not fitted on {} ({} rows): {:.2f} times as long; then {:.1f} / {:.1f} %\n",
                          other.source, other.after_scale.count, other.scale, other.after_scale.mean,
                          other.after_scale.median);
    }
  }
  return text + fmt::format("profile: {}\n", output);
}

}  // namespace trainfront::engine
