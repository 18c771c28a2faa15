#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// One collective within a domain: device.profile's LinkFit (and SwitchReduceFit, of all_reduce) is fitted on
// the samples and replaced. The profile stands for the source with most samples among the preferred ones (by
// position in `sources`), else among all. Sources that agree with it are pooled, each with its own factor,
// the others only scored. Ranks of a source that run `kFarOff` times off the form are left out and named in
// `left_out`. `companions` are samples of companion_of(collective), of which the same sources' may shape the
// table where this collective's own leave gaps. Errors are on held-out sizes of 64 KiB and more, companions'
// included, and on held-out (bytes, ranks) of this collective.
void fit_link(Device& device, Collective collective, const std::vector<CollectiveSample>& samples,
              const std::vector<CollectiveSample>& companions, const std::vector<std::string>& sources,
              const std::vector<bool>& preferred, FitScore& score, std::vector<std::string>& left_out);

// The collective whose steps a library takes at the same sizes: all_gather and reduce_scatter send the same
// parts the other way round, and a ring's all_reduce is both, one after the other.
std::optional<Collective> companion_of(Collective collective);

}  // namespace trainfront::costmodel
