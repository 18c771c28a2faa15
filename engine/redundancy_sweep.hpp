#pragma once

#include <string>
#include <vector>

#include "engine/commands/redundancy.hpp"
#include "faults/redundancy.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// The system of one plan: its groups as failing units, its step, what failures cost it. Protections other
// than its own are tried on it, with its own restart and save times.
struct PlanSystem {
  faults::Simulation system;
  std::string plan;  // in words
  std::vector<std::string> notes;
};
PlanSystem system_of_plan(const search::Space& space, std::uint64_t index);

// The plan of the sweep file that the options name, or else the one that answers the file's goal. Collective;
// nothing if no plan works, on all ranks (rank 0 has said why).
std::optional<PlanSystem> system_of_sweep(const RedundancyOptions& options, World& world);

}  // namespace trainfront::engine
