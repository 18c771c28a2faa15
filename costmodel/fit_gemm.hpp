#pragma once

#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// GEMM times of one precision (bursts), fitted on the samples of one source. `start` gives the constants to
// begin at, and those that bursts cannot tell (sustained_slowdown). At least kLeastSamples samples.
GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const std::vector<GemmSample>& samples);

// The same with its errors on held-out shapes (n, k) and sizes (m), and on the samples of other sources.
GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const std::vector<GemmSample>& samples, const std::vector<GemmSample>& others,
                 const std::vector<std::string>& sources, FitScore& score);

inline constexpr std::size_t kLeastSamples = 16;

}  // namespace trainfront::costmodel
