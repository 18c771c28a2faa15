#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "faults/event_simulation.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// Dated failures from a CSV file: a column `time`, either durations since the start of the training ("90s",
// "3d4h") or dates ("2026-03-01", "2026-03-01 04:05:06", with a T between and a Z behind if you like: all
// are taken for UTC), and if it has one a column `units`, how many were lost at once (else 1). A row of 0
// units marks the start of the training; dates need one, durations count from it if there is one. Lines that
// begin with # are skipped, further columns too. Ascending in time, whatever the order of the rows. What is
// wrong goes to `faults`.
std::vector<faults::DatedFailure> read_failure_trace(const std::filesystem::path& file, Diagnostics& faults);

// The same of text in memory; `name` stands for the file in messages.
std::vector<faults::DatedFailure> parse_failure_trace(std::string text, const std::string& name,
                                                      Diagnostics& faults);

}  // namespace trainfront::inputs
