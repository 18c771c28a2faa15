#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/fit_gemm.hpp"

namespace trainfront::costmodel {

// What fits of matrix products are made of: a form, a table, steps, and relatives' samples in one with the
// device's own.

// What cross-validation chooses among.
struct GemmChoice {
  double form_share = 1;   // 1: the form alone; less leaves more to the table
  bool fine = false;       // nodes of the table at half octaves, too
  bool steps = false;      // and what the table leaves over, by decision trees
  bool relatives = false;  // whose samples table and steps are fitted on as well
};

// A relative, and the fit of its samples alone: how long the device takes over that is smooth.
struct GemmLender {
  const GemmRelative* relative = nullptr;
  GemmFit fit = {};
};
// Of kLeastRelativeSamples samples and more.
GemmLender lender_of(const GemmRelative& relative, Precision precision, const GemmChoice& choice);

// At least one sample.
GemmFit fit_gemm_chosen(const Device& device, Precision precision, const GemmFit& start,
                        const GemmChoice& choice, const std::vector<GemmSample>& samples,
                        std::span<const GemmLender> lenders);

inline constexpr std::size_t kFineGemmSamples = 4000;
// Fewer say nothing about neighbours.
inline constexpr std::size_t kTableGemmSamples = kLeastRelativeSamples;
inline constexpr std::size_t kStepGemmSamples = 1000;

std::vector<GemmSample> thinned(const std::vector<GemmSample>& samples, std::size_t most);

}  // namespace trainfront::costmodel
