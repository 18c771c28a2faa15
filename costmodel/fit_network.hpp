#pragma once

#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// What collectives across domains say of hardware.network, whose kind it gets: its latency and the share of
// its line rate; W, C and the rest come from device.profile. Fitted on messages of kNetworkBytes and more
// where there are enough of them: below, the choice of NCCL's protocol differs from fabric to fabric, and one
// latency cannot meet both. Errors are on held-out sizes and held-out sources (by_shape: one log at a time;
// needs two), of kNetworkBytes and more. Sources whose large messages run kFarOff times below the line rate
// are left out and named in `left_out`; latency_scale is 0 where nothing is left.
NetworkFit fit_network(const Hardware& hardware, const std::vector<CollectiveSample>& samples,
                       const std::vector<std::string>& sources, FitScore& score,
                       std::vector<std::string>& left_out);

// False if the samples' large messages keep kFarOff times below the line rate that is stated: they went
// another way than the fabric that is named, through the host's memory or over plain Ethernet. One source's
// samples across domains, sends and receives apart.
bool runs_over_its_fabric(const Hardware& hardware, const std::vector<CollectiveSample>& samples);

inline constexpr double kNetworkBytes = 1 << 20;
inline constexpr std::size_t kLeastNetworkSamples = 6;  // for two constants

}  // namespace trainfront::costmodel
