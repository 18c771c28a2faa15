#pragma once

#include <map>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// The steps of fit_link (fit_collective.hpp): one collective within a domain, its form, its table, and
// several sources of it in one.

// What the table's values are held near: one form for all sizes; one for each protocol, with a step between
// them at one size, at one size a rank, or at a size of its own for each number of ranks; or the form times
// what a companion's table says of the companion's form at the same sizes.
enum class Prior { kForm, kStepBySize, kStepByShare, kStepByRanks, kCompanion };

// A device's profile with one collective fitted, and each source's factor.
struct FittedLink {
  Hardware hardware;
  std::map<int, double> scale;
};

double predict(const FittedLink& fitted, const CollectiveSample& sample);

// The source with most samples among the preferred ones (by position), else among all.
int reference_source(const std::vector<CollectiveSample>& samples, const std::vector<bool>& preferred);

Hardware fit_form(const Hardware& start, Collective collective, const std::vector<CollectiveSample>& samples);

// Another collective, fitted with a table; none: null.
struct Companion {
  Collective collective = Collective::kAllGather;
  const Hardware* hardware = nullptr;
};

// `companion` is that of Prior::kCompanion.
FittedLink fit_pooled(const Hardware& start, Collective collective, Prior prior,
                      const std::vector<bool>& preferred, const std::vector<CollectiveSample>& samples,
                      const Companion& companion = {});

inline constexpr std::size_t kLeastTableSamples = 24;

}  // namespace trainfront::costmodel
