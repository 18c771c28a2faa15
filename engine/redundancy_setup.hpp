#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/commands/redundancy.hpp"
#include "faults/redundancy.hpp"

namespace trainfront::engine {

// The system that the options describe; `given`, if any, stands for all of them but placement, sub-shards,
// k_max, checkpoint_every, r and seed; `elastic` is its own protection if that is elastic. Throws UsageError
// that names every option that is wrong.
faults::RedundancyStudy redundancy_study(const RedundancyOptions& options,
                                         const faults::Simulation* given = nullptr,
                                         const std::optional<faults::Protection>& elastic = {});

// What the user should know though nothing is wrong. One sentence each.
std::vector<std::string> redundancy_notes(const RedundancyOptions& options,
                                          const faults::RedundancyStudy& study);

}  // namespace trainfront::engine
