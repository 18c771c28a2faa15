#pragma once

#include <string>
#include <vector>

#include "engine/reports/plan_row.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

struct Amount {
  std::string name;
  double value = 0;
};

// Where a plan's time and dollars go (search::Losses). Every list sums to time_to_train_s or cost_usd, up to
// rounding.
struct RunParts {
  std::vector<Amount> parts_s, parts_usd;    // the parts of the step, then what is added to them
  std::vector<Amount> losses_s, losses_usd;  // the same, the parts of the step joined to what they are for:
                                             // the loss tree, all entries always
};
RunParts run_parts(const search::Space& space, const PlanRow& row);

// The loss tree as a table: time, share, dollars.
std::string losses_text(const RunParts& parts, const search::Outcome& outcome);

}  // namespace trainfront::engine
