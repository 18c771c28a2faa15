#pragma once

#include "engine/commands/validate.hpp"
#include "inputs/catalog.hpp"

namespace trainfront::engine {

// run_validate for files that all hold operator measurements: compares the catalogue's device profiles with
// them, by device, operation and precision. Bursts are compared with bursts: the sustained clock of training
// is left out.
int run_validate_operators(const ValidateOptions& options, const inputs::Catalog& catalog);

}  // namespace trainfront::engine
