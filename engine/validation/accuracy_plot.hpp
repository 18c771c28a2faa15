#pragma once

#include <span>
#include <string>

#include "engine/validation/prediction.hpp"

namespace trainfront::engine {

// An SVG picture: measured (across) against predicted (up) tokens per second and GPU, both logarithmic, one
// colour a source; on the diagonal they agree, the dashed lines are 20 % off.
std::string accuracy_plot(std::span<const RunPrediction> runs);

}  // namespace trainfront::engine
