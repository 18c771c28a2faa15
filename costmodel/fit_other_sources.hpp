#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "costmodel/fit_score.hpp"

namespace trainfront::costmodel {

// Measurements this many times off what the others follow are mistakes, not noise.
inline constexpr double kFarOff = 3;

inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How far a fit carries to measurements of other harnesses, library versions or clusters: one factor for each
// source, and the errors that remain.
template <typename Sample, typename Predict>
std::vector<FitScore::OtherSource> score_other_sources(const std::vector<Sample>& samples,
                                                       const std::vector<std::string>& sources,
                                                       Predict&& predict) {
  std::map<int, std::vector<double>> ratios;
  for (const Sample& sample : samples) ratios[sample.source].push_back(sample.seconds / predict(sample));
  std::vector<FitScore::OtherSource> scores;
  for (const auto& [source, list] : ratios) {
    const double scale = median_of(list);
    std::vector<double> errors;
    for (const double ratio : list) errors.push_back(scale / ratio - 1);
    scores.push_back({sources[static_cast<std::size_t>(source)], scale, summarize(errors)});
  }
  return scores;
}

}  // namespace trainfront::costmodel
