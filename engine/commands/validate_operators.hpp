#pragma once

#include <string>

#include "engine/commands/validate.hpp"

namespace trainfront::engine {

// True if the file is a table of operator measurements, by its header.
bool is_operator_file(const std::string& file);

// Compares the catalogue's device profiles with operator measurements, by device, operation and precision.
// Bursts are compared with bursts: the sustained clock of training is left out.
int run_validate_operators(const ValidateOptions& options);

}  // namespace trainfront::engine
