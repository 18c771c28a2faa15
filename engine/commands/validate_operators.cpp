#include "engine/commands/validate_operators.hpp"

#include <fmt/format.h>

#include <vector>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/terminal.hpp"
#include "engine/validation/operator_report.hpp"
#include "inputs/csv.hpp"
#include "inputs/device_spelling.hpp"

namespace trainfront::engine {

bool is_operator_file(const std::string& file) {
  try {
    return inputs::is_operator_table(inputs::CsvFile::open(file).header());
  } catch (const std::runtime_error&) {
    return false;  // whoever reads it says what is wrong with it
  }
}

int run_validate_operators(const ValidateOptions& options) {
  const inputs::Catalog catalog = inputs::builtin_catalog();
  inputs::Measurements measurements;
  inputs::Diagnostics faults;
  const auto resolve = [&](std::string_view gpu) { return inputs::device_of_spelling(catalog, gpu); };
  for (const std::string& file : options.files)
    inputs::read_measurements(file, resolve, {}, measurements, faults);
  const std::vector<OperatorRow> rows = predict_operators(catalog, measurements);
  if (rows.empty()) faults.throw_if_any();
  for (const inputs::Fault& fault : faults.faults()) say("left out: " + inputs::to_string(fault));
  for (const auto& [reason, count] : measurements.not_modelled) {
    say(fmt::format("{} rows not modelled: {}", count, reason));
  }
  if (!options.rows.empty()) write_file(options.rows, operator_rows_csv(rows));
  print(options.json ? operator_json(measurements, faults.faults().size(), rows) : operator_text(rows));
  return kDone;
}

}  // namespace trainfront::engine
