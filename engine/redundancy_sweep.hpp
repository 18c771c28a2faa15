#pragma once

#include <optional>
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
  std::optional<faults::Protection> elastic;  // the plan's own protection, if it is elastic
  std::string plan;                           // in words; empty: there is none
  std::vector<std::string> notes;
  int status = 0;                         // with which the command ends
  std::string_view status_name = "done";  // as of `plan`: "deadline_missed" if this is but the nearest
  std::string criterion;                  // what the plan was chosen by; empty: the user named it
};
PlanSystem system_of_plan(const search::Space& space, std::uint64_t index);

// The plan of the sweep file that the options name, or else the one that answers the file's goal or comes
// nearest to it (then rank 0 has said so, as where there is none). Collective.
PlanSystem system_of_sweep(const RedundancyOptions& options, World& world);

}  // namespace trainfront::engine
