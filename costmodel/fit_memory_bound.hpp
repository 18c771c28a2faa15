#pragma once

#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"

namespace trainfront::costmodel {

// Times of one memory-bound kind over its bytes. Errors are on held-out sizes.
MemoryBoundFit fit_memory_bound(const MemoryBoundFit& start, const std::vector<MemoryBoundSample>& samples,
                                FitScore& score);

double predict(const MemoryBoundFit& fit, const MemoryBoundSample& sample);

}  // namespace trainfront::costmodel
