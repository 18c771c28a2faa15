#pragma once

#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// One collective within a domain: device.profile's LinkFit (and SwitchReduceFit, of all_reduce) is fitted on
// the samples and replaced. Sources are pooled, each with its own factor against the one with most samples.
// Ranks of a source that run `kFarOff` times off the form are left out and named in `left_out`. Errors are on
// held-out sizes of 64 KiB and more.
void fit_link(Device& device, Collective collective, const std::vector<CollectiveSample>& samples,
              const std::vector<std::string>& sources, FitScore& score, std::vector<std::string>& left_out);

inline constexpr double kFarOff = 3;

// What collectives across domains say of the network: its latency and the share of its line rate; W, C and
// the rest come from device.profile. Errors are on held-out sources (by_shape: one log at a time; needs two)
// of 1 MiB and more.
NetworkFit fit_network(const Hardware& hardware, const std::vector<CollectiveSample>& samples,
                       FitScore& score);

}  // namespace trainfront::costmodel
