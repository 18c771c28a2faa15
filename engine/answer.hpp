#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/reports/json_writer.hpp"
#include "search/front.hpp"
#include "search/problem.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

enum class AnswerKind {
  kPlan,             // there is one
  kNothingFeasible,  // no plan of the space works
  kDeadlineMissed,   // plans work, but none is done in time
  kBudgetMissed,     // none (of those done in time) is cheap enough
};

// What a finished front says to a goal.
struct Answer {
  AnswerKind kind = AnswerKind::kNothingFeasible;
  std::optional<search::Point> plan;     // kPlan: the recommended one
  std::optional<search::Point> nearest;  // missed: the plan that comes nearest
  std::string criterion;                 // "cheapest within 60.0 d"

  int status() const;
  // "done", "infeasible", "deadline_missed", "budget_missed": "status" of the JSON output.
  std::string_view status_name() const;
};
Answer find_answer(const search::Front& front, const search::Goal& goal);

// Why there is no plan, in sentences: counts by reason and the nearest miss. Empty for kPlan.
std::string why_no_plan(const search::Space& space, const search::Harvest& harvest, const search::Goal& goal,
                        const Answer& answer);

// Fields "status", "criterion", and "answer" or "nearest" (plans as in front.json) or
// "smallest_memory_excess".
void write_answer(const search::Space& space, const search::Harvest& harvest, const Answer& answer,
                  JsonWriter& json);

}  // namespace trainfront::engine
