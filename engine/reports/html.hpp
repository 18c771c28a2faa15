#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/answer.hpp"
#include "engine/remaining.hpp"
#include "engine/reports/plan_row.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// report.html: one file that needs nothing else. The front as a chart and a table, the answer, counts by
// reason. `failure` is why there is no answer; `remaining` what a sweep that ended early did not look at.
std::string report_html(const search::Space& space, const search::Harvest& harvest,
                        std::span<const PlanRow> rows, const Answer& answer, const std::string& failure,
                        const Remaining* remaining = nullptr);

}  // namespace trainfront::engine
