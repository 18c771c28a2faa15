#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// A device that libraries run the same kernels on, and its samples of the precision.
struct GemmRelative {
  Device device;
  std::vector<GemmSample> samples;
};

// True if the devices are of one family and have about as many compute units of about the same peak in the
// precision: libraries then choose among the same kernels and cut matrices into the same tiles. H100 and
// H200; B200 and GB200. False if either cannot compute in the precision.
bool runs_same_kernels(const Device& device, const Device& other, Precision precision = Precision::kBf16);

struct GemmMeasurements {
  std::vector<GemmSample> samples;           // of one source, which the profile stands for
  std::vector<GemmSample> others = {};       // of other sources, only scored
  std::vector<std::string> sources = {};     // of samples and others, by their positions
  std::vector<GemmRelative> relatives = {};  // of one library each, if they are to help
};

// GEMM times of one precision (bursts). `start` gives the constants to begin at, and those that bursts cannot
// tell (sustained_slowdown). At least kLeastSamples samples. The form is fitted on the device's own samples.
// Table and steps may be fitted on relatives' as well, where cross-validation on the device's own (shapes,
// and sizes that relatives lack too) finds that to help; a table that reaches further with them than without,
// or that the device's own samples alone are too few for, is marked interpolated.
GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const GemmMeasurements& measured);

// The same with its errors on held-out shapes (n, k) and sizes (m) of the device, and on the samples of other
// sources. Where relatives' samples are used, they stay in by shape and `by_own_size`, and are left out of
// `by_size`.
GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const GemmMeasurements& measured, FitScore& score);

inline constexpr std::size_t kLeastSamples = 16;
inline constexpr std::size_t kLeastRelativeSamples = 48;  // as many as a table needs

}  // namespace trainfront::costmodel
