#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// What was measured of one collective within a domain.
struct LinkMeasurements {
  std::vector<CollectiveSample> samples;
  // Of companion_of(collective): the same sources' may shape the table where its own samples leave gaps.
  std::vector<CollectiveSample> companions = {};
  std::vector<std::string> sources;  // of all these samples, by their positions
  std::vector<bool> preferred;
  // The same collective, and its companion, on a device with the same scale-up link, where a library changes
  // its protocols at the same sizes. Their sources are others than this device's.
  struct Relative {
    std::vector<CollectiveSample> samples, companions;
  };
  std::vector<Relative> relatives = {};
  // The device's table was fitted on none of these samples, and may shape the new one.
  bool has_earlier_table = false;
};

// The device.profile's LinkFit (and SwitchReduceFit, of all_reduce) is fitted on the samples and replaced.
// The profile stands for the source with most samples among the preferred ones (by position in `sources`),
// else among all. Sources that agree with it are pooled, each with its own factor, the others only scored.
// Ranks of a source that run `kFarOff` times off the form are left out and named in `left_out`. What shapes
// the table is chosen by cross-validation. Errors are on held-out (bytes, ranks) of this collective and
// device, and on held-out sizes of 64 KiB and more: `by_size` of companions and relatives as well,
// `by_own_size` of this device alone.
void fit_link(Device& device, Collective collective, const LinkMeasurements& measured, FitScore& score,
              std::vector<std::string>& left_out);

// The collective whose steps a library takes at the same sizes: all_gather and reduce_scatter send the same
// parts the other way round, and a ring's all_reduce is both, one after the other.
std::optional<Collective> companion_of(Collective collective);

// The samples that a fit needs at least, without and with an earlier table.
inline constexpr std::size_t kLeastLinkSamples = 8;
inline constexpr std::size_t kLeastNearTable = 5;

}  // namespace trainfront::costmodel
