#pragma once

#include <set>
#include <string>
#include <vector>

#include "costmodel/device_profile.hpp"
#include "costmodel/fit_samples.hpp"
#include "costmodel/fit_score.hpp"

namespace trainfront::engine {

// One line of provenance a section: who measured it, how much, and how far off held-out predictions were. It
// takes the place of the section's earlier line.
void set_provenance(const costmodel::FitScore& score, const std::vector<std::string>& sources,
                    costmodel::DeviceProfile& profile);

// Who measured what the section's line tells of; empty without one.
std::vector<std::string> earlier_sources(const costmodel::DeviceProfile& profile, const std::string& section);

// The section's line names one of the sources.
bool rests_on(const costmodel::DeviceProfile& profile, const std::string& section,
              const std::vector<std::string>& sources);

void too_few(const std::string& what, std::size_t count, std::vector<std::string>& notes);

template <typename Sample>
std::vector<std::string> sources_of(const std::vector<Sample>& samples, const costmodel::Samples& all) {
  std::set<std::string> names;
  for (const Sample& sample : samples) names.insert(all.sources[static_cast<std::size_t>(sample.source)]);
  return {names.begin(), names.end()};
}

}  // namespace trainfront::engine
