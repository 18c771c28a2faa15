#pragma once

#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

inline constexpr double kLeastScoredBytes = 65536;  // of collectives within a domain

// One collective's samples within a domain: those to fit on, and those of sources that, after their one
// factor, still disagree with the reference: other kernels or other ways of timing.
struct LinkSamples {
  std::vector<CollectiveSample> kept, others;
};

// Without the ranks of a source that run `kFarOff` times off what the others follow, which are named in
// `left_out`. `sources` and `preferred` by position.
LinkSamples plausible_link_samples(const Hardware& start, Collective collective,
                                   const std::vector<CollectiveSample>& samples,
                                   const std::vector<std::string>& sources,
                                   const std::vector<bool>& preferred, std::vector<std::string>& left_out);

std::vector<CollectiveSample> scored_of(const std::vector<CollectiveSample>& samples);

}  // namespace trainfront::costmodel
