#include "engine/commands/validate.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "engine/atomic_file.hpp"
#include "engine/commands/catalog_with.hpp"
#include "engine/commands/validate_operators.hpp"
#include "engine/errors.hpp"
#include "engine/output_place.hpp"
#include "engine/terminal.hpp"
#include "engine/validation/accuracy_page.hpp"
#include "engine/validation/accuracy_plot.hpp"
#include "engine/validation/accuracy_report.hpp"
#include "inputs/csv.hpp"
#include "inputs/document.hpp"
#include "inputs/measurements.hpp"
#include "inputs/profile_file.hpp"
#include "inputs/run_table.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {

namespace {

// One fault of the user's file, for exit status 2.
[[noreturn]] void refuse(const std::string& file, std::string problem) {
  inputs::Fault fault;
  fault.file = file;
  fault.problem = std::move(problem);
  throw inputs::InputError({std::move(fault)});
}

inputs::RunTable read_table(const std::string& file) {
  try {
    return inputs::read_run_table(file);
  } catch (const inputs::CsvError& error) {
    inputs::Fault fault;
    fault.file = file;
    fault.at = {static_cast<int>(error.line), static_cast<int>(error.column)};
    fault.problem = error.problem;
    throw inputs::InputError({std::move(fault)});
  } catch (const std::runtime_error& error) {
    refuse(file, error.what());
  }
}

// True if all files hold operator measurements, false if all hold training runs.
bool are_operators(const std::vector<std::string>& files) {
  std::string operators, runs;
  for (const std::string& file : files) {
    if (std::filesystem::path(file).extension() == ".toml") {
      inputs::Diagnostics unreadable;
      const std::optional<std::string> text = inputs::read_text(file, unreadable);
      unreadable.throw_if_any();
      refuse(file, fmt::format("is a {}, not measurements; --catalog {} lays it over the shipped catalogue",
                               inputs::profile_device(*text).empty() ? "catalogue" : "device profile", file));
    }
    (inputs::is_measurement_file(file) ? operators : runs) = file;
  }
  if (!operators.empty() && !runs.empty()) {
    throw UsageError(
        fmt::format("training runs ({}) and operator measurements ({}) are compared by themselves: one call "
                    "for each kind",
                    runs, operators));
  }
  return !operators.empty();
}

void say_what_was_left(const inputs::RunTable& table, const Predictions& predictions) {
  if (!table.unknown_columns.empty()) {
    say(fmt::format("{}: columns not known and ignored: {}", table.file,
                    inputs::join(table.unknown_columns)));
  }
  for (const auto& [profile, count] : predictions.unknown_profiles) {
    say(fmt::format("{}: {} rows would use the framework profile {}", table.file, count, profile));
  }
}

void write_page(const AccuracyReport& report, const std::filesystem::path& page) {
  const std::filesystem::path plot = std::filesystem::path(page).replace_extension(".svg");
  write_file(plot, accuracy_plot(report.predictions.runs));
  write_file(page, accuracy_page(report, plot.filename().string()));
}

}  // namespace

int run_validate(const ValidateOptions& options) {
  if (options.files.empty()) throw UsageError("validate needs at least one file of measurements");
  if (!options.rows.empty()) check_output_place(options.rows, "--rows");
  if (!options.page.empty()) check_output_place(options.page, "--page");
  const bool operators = are_operators(options.files);
  const inputs::Catalog catalog = catalog_with(options.catalogs);
  if (operators) return run_validate_operators(options, catalog);
  Predictions predictions;
  for (const std::string& file : options.files) {
    const inputs::RunTable table = read_table(file);
    Predictions of_file = predict_runs(table, catalog);
    say_what_was_left(table, of_file);
    predictions.merge(std::move(of_file));
  }
  const AccuracyReport report = report_accuracy(std::move(predictions));
  if (!options.rows.empty()) write_file(options.rows, accuracy_rows_csv(report.predictions));
  if (!options.page.empty()) write_page(report, options.page);
  print(options.json ? accuracy_json(report) : accuracy_text(report));
  return kDone;
}

}  // namespace trainfront::engine
