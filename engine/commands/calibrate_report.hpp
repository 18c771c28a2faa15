#pragma once

#include <cstddef>
#include <string>

#include "engine/commands/profile_fit.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::engine {

// What `calibrate` prints of a fit whose profile went to `output`: one JSON object, or a table of held-out
// errors by operation.
std::string fit_json(const ProfileFit& fit, const std::string& output,
                     const inputs::Measurements& measurements, std::size_t bad_lines);
std::string fit_table(const ProfileFit& fit, const std::string& output);

}  // namespace trainfront::engine
