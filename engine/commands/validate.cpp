#include "engine/commands/validate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "engine/atomic_file.hpp"
#include "engine/commands/validate_operators.hpp"
#include "engine/errors.hpp"
#include "engine/terminal.hpp"
#include "engine/validation/accuracy_page.hpp"
#include "engine/validation/accuracy_plot.hpp"
#include "engine/validation/accuracy_report.hpp"
#include "inputs/csv.hpp"
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
  const auto operators = std::count_if(options.files.begin(), options.files.end(), is_operator_file);
  if (operators == std::ssize(options.files)) return run_validate_operators(options);
  if (operators > 0) throw UsageError("training runs and operator measurements cannot be compared in one go");
  if (std::all_of(options.files.begin(), options.files.end(), is_operator_file))
    return run_validate_operators(options);
  const inputs::Catalog catalog = inputs::builtin_catalog();
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
