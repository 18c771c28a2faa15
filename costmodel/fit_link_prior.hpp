#pragma once

#include <array>
#include <functional>
#include <vector>

#include "costmodel/fit_link_pool.hpp"

namespace trainfront::costmodel {

using LogTime = std::function<double(const std::array<double, 3>&)>;

// What a collective's table is held near: the guide's logarithm of seconds at (ranks, bytes, 1). It refers to
// hardware and guide, which must outlive it.
LogTime link_prior(const Hardware& hardware, Collective collective, const Guide& guide,
                   const std::vector<CollectiveSample>& samples);

}  // namespace trainfront::costmodel
