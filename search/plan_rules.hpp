#pragma once

#include <cstdint>

#include "costmodel/layout.hpp"
#include "costmodel/legality.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// The first rule that a listed layout breaks at this GPU count, batch and islands, whatever the offer and
// protection. layout.dp is gpus / group, rounded down. In this order: kGpusNotDivisible, check_batch's,
// kIslands.
costmodel::Rule step_rule(const Problem& problem, const costmodel::Layout& layout, std::int64_t gpus,
                          std::int64_t nodes, std::int64_t global_batch, const costmodel::Islands& islands);

}  // namespace trainfront::search
