#pragma once

#include <cstdint>
#include <optional>

#include "search/space.hpp"

namespace trainfront::engine {

// The index in `space` of a plan of another space: hardware and offers are told by what they are, and a
// number of spares or k_max stands for an open one that comes to it there. None if the space lacks the plan.
std::optional<std::uint64_t> index_in(const search::Space& space, const search::Space& of,
                                      const search::Plan& plan);

}  // namespace trainfront::engine
