#pragma once

#include <map>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// The steps of fit_link (fit_collective.hpp): one collective within a domain, its form, its table, and
// several sources of it in one.

// What the table's values are held near: one form for all sizes; one for each protocol, with a step between
// them at one size, at one size a rank, or at a size of its own for each number of ranks; one for each
// protocol that the library's own tuning model takes, by itself or near what they are of a companion; or the
// form times what a companion's table says of the companion's form at the same sizes.
enum class Shape { kForm, kStepBySize, kStepByShare, kStepByRanks, kByLibrary, kByLibraryBeside, kCompanion };

// A device's profile with one collective fitted, and each source's factor.
struct FittedLink {
  Hardware hardware;
  std::map<int, double> scale;
};

double predict(const FittedLink& fitted, const CollectiveSample& sample);

// The source with most samples among the preferred ones (by position), else among all.
int reference_source(const std::vector<CollectiveSample>& samples, const std::vector<bool>& preferred);

Hardware fit_form(const Hardware& start, Collective collective, const std::vector<CollectiveSample>& samples);

// What a table is held near.
struct Guide {
  Shape shape = Shape::kForm;
  // Of Shape::kCompanion and kByLibraryBeside: another collective, fitted with a table, and its samples
  // without their sources' factors.
  Collective companion = Collective::kAllGather;
  const Hardware* companion_fit = nullptr;
  const std::vector<CollectiveSample>* companion_samples = nullptr;
  // If given, instead of a shape: the same collective's times there, after one factor, which fades where only
  // small messages were measured, or only large ones.
  const Hardware* like = nullptr;
  // The table reaches as far as that of `like`, and few samples leave the form as it was.
  bool keeps_extent = false;
};

FittedLink fit_pooled(const Hardware& start, Collective collective, const Guide& guide,
                      const std::vector<bool>& preferred, const std::vector<CollectiveSample>& samples);

inline constexpr std::size_t kLeastTableSamples = 24;   // of a table that nothing like it guides
inline constexpr std::size_t kLeastLibrarySamples = 8;  // to try one that the library's protocols guide

}  // namespace trainfront::costmodel
