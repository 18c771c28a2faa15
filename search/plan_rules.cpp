#include "search/plan_rules.hpp"

#include "search/environment.hpp"

namespace trainfront::search {

costmodel::Rule step_rule(const Problem& problem, const costmodel::Layout& layout, std::int64_t gpus,
                          std::int64_t nodes, std::int64_t global_batch, const costmodel::Islands& islands) {
  if (layout.dp < 1 || layout.gpus() != gpus) return costmodel::Rule::kGpusNotDivisible;
  const auto rule = check_batch(problem.model, problem.recipe, layout, global_batch);
  return rule != costmodel::Rule::kNone ? rule : islands_rule(islands, layout.dp, nodes);
}

}  // namespace trainfront::search
