#include "costmodel/fit_link_samples.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/fit_link_pool.hpp"
#include "costmodel/fit_other_sources.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kStrangePercent = 6;

// Without the (source, ranks) groups that are far off what the others follow.
std::vector<CollectiveSample> plausible(const Hardware& start, Collective collective,
                                        const std::vector<CollectiveSample>& samples,
                                        const std::vector<std::string>& sources,
                                        std::vector<std::string>& left_out) {
  const Hardware form = fit_form(start, collective, samples);
  std::map<std::pair<int, int>, std::vector<double>> ratios;
  for (const CollectiveSample& sample : samples) {
    ratios[{sample.source, sample.placement.ranks}].push_back(
        sample.seconds / collective_time(form, collective, sample.bytes, sample.placement).seconds);
  }
  std::vector<CollectiveSample> kept;
  std::map<std::pair<int, int>, bool> far_off;
  for (auto& [group, list] : ratios) {
    const double ratio = median_of(list);
    far_off[group] = ratio > kFarOff || ratio < 1 / kFarOff;
    if (far_off[group]) {
      left_out.push_back(std::to_string(group.second) + " ranks of " +
                         sources[static_cast<std::size_t>(group.first)]);
    }
  }
  for (const CollectiveSample& sample : samples) {
    if (!far_off[{sample.source, sample.placement.ranks}]) kept.push_back(sample);
  }
  return kept;
}

LinkSamples without_strangers(const FittedLink& fitted, int reference,
                              const std::vector<CollectiveSample>& samples) {
  std::map<int, std::vector<double>> ratios;
  for (const CollectiveSample& sample : scored_of(samples))
    ratios[sample.source].push_back(sample.seconds / predict(fitted, sample));
  std::map<int, double> mean_error;
  for (const auto& [source, list] : ratios) {
    std::vector<double> errors;
    const double scale = median_of(list);
    for (const double ratio : list) errors.push_back(scale / ratio - 1);
    mean_error[source] = summarize(errors).mean;
  }
  LinkSamples apart;
  for (const CollectiveSample& sample : samples) {
    const bool strange = sample.source != reference && mean_error[sample.source] > kStrangePercent;
    (strange ? apart.others : apart.kept).push_back(sample);
  }
  return apart;
}

}  // namespace

std::vector<CollectiveSample> scored_of(const std::vector<CollectiveSample>& samples) {
  std::vector<CollectiveSample> scored;
  for (const CollectiveSample& sample : samples) {
    if (sample.bytes >= kLeastScoredBytes) scored.push_back(sample);
  }
  return scored;
}

LinkSamples plausible_link_samples(const Hardware& start, Collective collective,
                                   const std::vector<CollectiveSample>& samples,
                                   const std::vector<std::string>& sources,
                                   const std::vector<bool>& preferred, std::vector<std::string>& left_out) {
  const std::vector<CollectiveSample> kept = plausible(start, collective, samples, sources, left_out);
  if (kept.empty()) return {};
  // Judged by a fit on the reference alone: a large stranger would bend a pooled one its way.
  const int reference = reference_source(kept, preferred);
  std::vector<CollectiveSample> of_reference;
  for (const CollectiveSample& sample : kept) {
    if (sample.source == reference) of_reference.push_back(sample);
  }
  return without_strangers(fit_pooled(start, collective, {}, preferred, of_reference), reference, kept);
}

}  // namespace trainfront::costmodel
