#pragma once

#include "inputs/csv.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

Fault to_fault(const CsvError& error);

// Goes to the next record that keeps the format; those that break it become faults. False at the end.
bool next_record(CsvFile& csv, Diagnostics& faults);

}  // namespace trainfront::inputs
