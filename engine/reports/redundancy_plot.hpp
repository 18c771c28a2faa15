#pragma once

#include <span>
#include <string>

#include "faults/redundancy.hpp"

namespace trainfront::engine {

// Time-to-train and availability over r, as an SVG file that stands alone: closed forms as lines, simulations
// (empty: none; else one a row) as points with bars of two standard errors.
std::string redundancy_plot(std::span<const faults::RedundancyRow> rows,
                            std::span<const faults::RedundancySimulated> simulated);

}  // namespace trainfront::engine
