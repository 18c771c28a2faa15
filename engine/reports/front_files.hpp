#pragma once

#include <span>
#include <string>

#include "engine/reports/plan_row.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// front.csv: one line a plan, numbers that read back exactly.
std::string front_csv(std::span<const PlanRow> rows);

// front.json, schema 1. Depends on the input alone.
std::string front_json(const search::Space& space, const search::Counts& counts,
                       std::span<const PlanRow> rows);

// The objects "problem" and "counts" of front.json, for others that want them.
void write_problem(const search::Space& space, JsonWriter& json);
void write_counts(const search::Counts& counts, std::size_t front, JsonWriter& json);

}  // namespace trainfront::engine
