#include "inputs/csv_records.hpp"

namespace trainfront::inputs {

Fault to_fault(const CsvError& error) {
  Fault fault;
  fault.file = error.file;
  fault.at = {static_cast<int>(error.line), static_cast<int>(error.column)};
  fault.problem = error.problem;
  return fault;
}

bool next_record(CsvFile& csv, Diagnostics& faults) {
  for (;;) {
    try {
      return csv.next();
    } catch (const CsvError& error) {
      faults.add(to_fault(error));
    }
  }
}

}  // namespace trainfront::inputs
