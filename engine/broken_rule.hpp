#pragma once

#include <optional>
#include <string>

#include "costmodel/legality.hpp"
#include "search/problem.hpp"

namespace trainfront::engine {

struct BrokenRule {
  costmodel::Rule rule = costmodel::Rule::kNone;
  std::string words;  // the rule with the values at hand and the nearest legal ones
};

// The first rule that the layout breaks which a problem's choices describe: of each list its first value, of
// what is left open the plainest one. Nothing where that layout is legal.
std::optional<BrokenRule> broken_rule(const search::Problem& problem);

}  // namespace trainfront::engine
