#pragma once

#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// Attention times fitted on the samples of one source: forward calls over whole prompts (queries > 1).
// Backward calls set backward_factor where there are any. Errors are on held-out (sequence, batch * heads)
// and sequences.
AttentionFit fit_attention(const AttentionFit& start, const std::vector<AttentionSample>& samples,
                           const std::vector<AttentionSample>& others,
                           const std::vector<std::string>& sources, FitScore& score);

// Seconds that the fit gives a sample, cache and direction included.
double predict(const AttentionFit& fit, const AttentionSample& sample);

}  // namespace trainfront::costmodel
