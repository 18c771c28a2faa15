#pragma once

#include "search/outcome.hpp"
#include "search/space.hpp"

namespace trainfront::search {

// One plan from scratch, in full. walk() gives the same time and cost, bit for bit.
Outcome evaluate(const Space& space, std::uint64_t index);

}  // namespace trainfront::search
