#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/reports/plan_row.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// What cells leave out: of an offer its instance and zone, of a layout what is usual.
struct Brief {
  bool offer = false;
  bool layout = false;
};
// The columns that a person reads, and a plan's cells.
const std::vector<std::string>& front_columns();
std::vector<std::string> front_cells(const PlanRow& row, Brief brief = {});

// What a reader of these rows must know beside them, a sentence each.
std::vector<std::string> front_warnings(std::span<const PlanRow> rows);

// A front as text: all plans, or of many `most` spread evenly over it, ends and the marked one always; a star
// marks the recommended plan. Offers that would look alike are shown with their instance and zone.
std::string front_text(std::span<const PlanRow> rows, std::optional<std::uint64_t> marked, std::size_t most);

// One plan in some lines.
std::string plan_text(const search::Space& space, const PlanRow& row);

}  // namespace trainfront::engine
