#pragma once

#include "inputs/measurements.hpp"

namespace trainfront::engine {

// Says what was left out of files of measurements (the first faults, and how many more), what was inferred,
// and what no form models.
void say_reading(const inputs::Measurements& measurements, const inputs::Diagnostics& faults);

}  // namespace trainfront::engine
