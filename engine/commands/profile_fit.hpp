#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/hardware.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::engine {

// A device with the profile that the measurements give, and what is known of its errors.
struct ProfileFit {
  costmodel::Device device;
  std::vector<costmodel::FitScore> scores;
  std::vector<std::string> notes;  // what was left out, or changed beside the fits
};

struct FitChoices {
  std::vector<std::string> references;  // see CalibrateOptions
  // Where collectives across nodes were measured on one of these, that becomes the profile's network.
  std::set<std::string> fabrics = {};
  // The catalogue's: what else is known of a measured kind, that it runs through the kernel's TCP above all.
  std::vector<costmodel::Network> networks = {};
  // What the files hold of devices with the same scale-up link, by their ids.
  std::map<std::string, const costmodel::Samples*> relatives = {};
  // And of those that run the same kernels.
  struct KernelRelative {
    const costmodel::Device* device;
    const costmodel::Samples* samples;
  };
  std::vector<KernelRelative> kernel_relatives = {};
};

// Replaces the sections of start.profile that the samples measure.
ProfileFit fit_profile(const costmodel::Device& start, const costmodel::Samples& samples,
                       const std::vector<inputs::SustainedRate>& sustained, const FitChoices& choices);

// Which sources hold one of the references in their names.
std::vector<bool> preferred_sources(const std::vector<std::string>& sources,
                                    const std::vector<std::string>& references);

// The profile of a device whose relative was measured: peaks and memory rates scaled by their data sheets,
// tables kept where nothing that they hold differs, nothing better than interpolated; slower sustained, and
// extrapolated, where the power limit is lower.
costmodel::DeviceProfile profile_of_relative(const costmodel::Device& from, const costmodel::Device& to);

// The samples that the fit is made on, those of the preferred source (by position) with most samples, else of
// the source with most; and the others.
template <typename Sample>
void split_by_source(const std::vector<Sample>& samples, const std::vector<std::string>& sources,
                     const std::vector<bool>& preferred, std::vector<Sample>& chosen,
                     std::vector<Sample>& others) {
  std::vector<std::size_t> counts(sources.size(), 0);
  for (const Sample& sample : samples) ++counts[static_cast<std::size_t>(sample.source)];
  std::size_t best = 0;
  const auto rank = [&](std::size_t source) {
    return counts[source] > 0 && preferred[source] ? counts[source] + samples.size() : counts[source];
  };
  for (std::size_t source = 1; source < sources.size(); ++source) {
    if (rank(source) > rank(best)) best = source;
  }
  for (const Sample& sample : samples) {
    (static_cast<std::size_t>(sample.source) == best ? chosen : others).push_back(sample);
  }
}

}  // namespace trainfront::engine
