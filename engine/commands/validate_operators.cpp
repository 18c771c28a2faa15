#include "engine/commands/validate_operators.hpp"

#include <vector>

#include "engine/atomic_file.hpp"
#include "engine/commands/measurement_notes.hpp"
#include "engine/errors.hpp"
#include "engine/terminal.hpp"
#include "engine/validation/operator_report.hpp"
#include "inputs/device_spelling.hpp"

namespace trainfront::engine {

int run_validate_operators(const ValidateOptions& options, const inputs::Catalog& catalog) {
  inputs::Measurements measurements;
  inputs::Diagnostics faults;
  const inputs::DeviceResolver resolve = inputs::device_resolver(catalog);
  for (const std::string& file : options.files)
    inputs::read_measurements(file, resolve, {}, measurements, faults);
  const std::vector<OperatorRow> rows = predict_operators(catalog, measurements);
  if (rows.empty() && measurements.refused.empty()) faults.throw_if_any();
  say_reading(measurements, faults);
  if (!measurements.refused.empty()) throw inputs::InputError(measurements.refused);
  if (!options.rows.empty()) write_file(options.rows, operator_rows_csv(rows));
  print(options.json ? operator_json(measurements, faults.count(), rows) : operator_text(rows));
  return kDone;
}

}  // namespace trainfront::engine
