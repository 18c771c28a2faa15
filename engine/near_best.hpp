#pragma once

#include <cstddef>
#include <vector>

#include "search/near_best.hpp"

namespace trainfront::engine {

// The nearest plans of a vicinity that differ in device or shape, at most so many, found by the threads of
// this process: the same for any number of them.
std::vector<search::Neighbour> find_near_best(const search::Space& space, const search::Vicinity& around,
                                              std::size_t most, int threads);

}  // namespace trainfront::engine
