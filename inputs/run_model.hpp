#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/model.hpp"
#include "inputs/catalog.hpp"
#include "inputs/run_table.hpp"

namespace trainfront::inputs {

// The run's model: the catalogue's of that name where the stated shape agrees with it, with what the row
// states in its place. Nothing, and why, if the shape stays open. What a default filled goes to `assumed`.
std::optional<costmodel::Model> read_run_model(const RunRow& row, const Catalog& catalog, std::string& reason,
                                               std::vector<std::string>& assumed);

}  // namespace trainfront::inputs
