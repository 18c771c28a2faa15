#pragma once

#include <span>
#include <string>

#include "engine/remaining.hpp"
#include "engine/reports/plan_row.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// front.csv: one line a plan, numbers that read back exactly. A partial front's lines say so in a last
// column.
std::string front_csv(std::span<const PlanRow> rows, bool partial = false);

// front.json, schema 1. Depends on the input alone. Of a sweep that ended early: "partial" and what remains.
std::string front_json(const search::Space& space, const search::Counts& counts,
                       std::span<const PlanRow> rows, const Remaining* remaining = nullptr);

// Fields "partial" and "remaining": plans, their share, and by kind of hardware what was not looked at.
void write_remaining(const search::Space& space, const Remaining& remaining, JsonWriter& json);

// The objects "problem" and "counts" of front.json, for others that want them.
void write_problem(const search::Space& space, JsonWriter& json);
void write_counts(const search::Counts& counts, std::size_t front, JsonWriter& json);

}  // namespace trainfront::engine
