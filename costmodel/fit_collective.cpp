#include "costmodel/fit_collective.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "costmodel/fit_link_pool.hpp"
#include "costmodel/fit_other_sources.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kLeastScoredBytes = 65536;
constexpr double kStrangePercent = 6;
constexpr double kGain = 0.97;  // what is more elaborate must earn its place

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

// Sources that, after their one factor, still disagree with the largest: other kernels or other ways of
// timing.
void split_off_strangers(const FittedLink& fitted, int reference, std::vector<CollectiveSample>& kept,
                         std::vector<CollectiveSample>& others) {
  std::map<int, std::vector<double>> ratios;
  for (const CollectiveSample& sample : kept) {
    if (sample.bytes >= kLeastScoredBytes) {
      ratios[sample.source].push_back(sample.seconds / predict(fitted, sample));
    }
  }
  std::map<int, double> mean_error;
  for (const auto& [source, list] : ratios) {
    std::vector<double> errors;
    const double scale = median_of(list);
    for (const double ratio : list) errors.push_back(scale / ratio - 1);
    mean_error[source] = summarize(errors).mean;
  }
  std::vector<CollectiveSample> alike;
  for (const CollectiveSample& sample : kept) {
    const bool strange = sample.source != reference && mean_error[sample.source] > kStrangePercent;
    (strange ? others : alike).push_back(sample);
  }
  kept = std::move(alike);
}

// Held out by size and by ranks and size, without the source: other versions of the library repeat the same
// point.
struct HeldOut {
  ErrorSummary by_size, by_shape;

  double mean() const { return (by_size.mean + by_shape.mean) / 2; }
};

using List = std::vector<CollectiveSample>;

// Errors of each sample when all of its key's fold was left out; of its companion's samples, too, if asked
// for. fit(samples, companion's samples) gives a fit.
template <typename Fit, typename Key>
ErrorSummary hold_out_by(const List& scored, const List& companion, bool of_companion, const Key& key,
                         const Fit& fit) {
  std::vector<double> errors;
  for (unsigned fold = 0; fold < kFolds; ++fold) {
    List seen, unseen, beside;
    for (const CollectiveSample& sample : scored)
      (fold_of(key(sample)) == fold ? unseen : seen).push_back(sample);
    for (const CollectiveSample& sample : companion) {
      if (!of_companion || fold_of(key(sample)) != fold) beside.push_back(sample);
    }
    if (seen.empty() || unseen.empty()) continue;
    const FittedLink fitted = fit(seen, beside);
    for (const CollectiveSample& sample : unseen)
      errors.push_back(predict(fitted, sample) / sample.seconds - 1);
  }
  return summarize(errors);
}

template <typename Fit>
HeldOut hold_out(const List& scored, const List& companion, const Fit& fit) {
  const auto size = [](const CollectiveSample& sample) { return static_cast<std::uint64_t>(sample.bytes); };
  const auto shape = [](const CollectiveSample& sample) {
    return static_cast<std::uint64_t>(sample.bytes) * 64 +
           static_cast<std::uint64_t>(sample.placement.ranks) * 7;
  };
  return {.by_size = hold_out_by(scored, companion, true, size, fit),
          .by_shape = hold_out_by(scored, companion, false, shape, fit)};
}

// Those of the same sources, of the sizes that are scored.
List of_same_sources(const List& companion, const List& kept) {
  std::set<int> sources;
  for (const CollectiveSample& sample : kept) sources.insert(sample.source);
  List same;
  for (const CollectiveSample& sample : companion) {
    if (sources.contains(sample.source) && sample.bytes >= kLeastScoredBytes) same.push_back(sample);
  }
  return same;
}

}  // namespace

std::optional<Collective> companion_of(Collective collective) {
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kAllReduce:
      return Collective::kReduceScatter;
    case Collective::kReduceScatter:
      return Collective::kAllGather;
    default:
      return std::nullopt;
  }
}

void fit_link(Device& device, Collective collective, const std::vector<CollectiveSample>& samples,
              const std::vector<CollectiveSample>& companions, const std::vector<std::string>& sources,
              const std::vector<bool>& preferred, FitScore& score, std::vector<std::string>& left_out) {
  Hardware hardware;
  hardware.device = device;
  std::vector<CollectiveSample> kept = plausible(hardware, collective, samples, sources, left_out);
  if (kept.empty()) return;
  const auto fit_with = [&](Prior prior) {
    return [&, prior](const List& seen, const List& beside) {
      if (prior != Prior::kCompanion) return fit_pooled(hardware, collective, prior, preferred, seen);
      const Collective other = *companion_of(collective);
      const FittedLink companion = fit_pooled(hardware, other, Prior::kStepBySize, preferred, beside);
      return fit_pooled(hardware, collective, prior, preferred, seen,
                        {.collective = other, .hardware = &companion.hardware});
    };
  };
  std::vector<CollectiveSample> others;
  // Judged by a fit on the reference alone: a large stranger would bend a pooled one its way.
  const int reference = reference_source(kept, preferred);
  std::vector<CollectiveSample> of_reference;
  for (const CollectiveSample& sample : kept) {
    if (sample.source == reference) of_reference.push_back(sample);
  }
  split_off_strangers(fit_with(Prior::kForm)(of_reference, {}), reference, kept, others);
  std::vector<CollectiveSample> scored;
  for (const CollectiveSample& sample : kept) {
    if (sample.bytes >= kLeastScoredBytes) scored.push_back(sample);
  }
  const List companion = of_same_sources(companions, kept);
  score.form = kept.size() >= kLeastTableSamples ? "table" : "form";
  score.samples = kept.size();
  Prior prior = Prior::kForm;
  HeldOut held_out = hold_out(scored, companion, fit_with(prior));
  for (const Prior other :
       {Prior::kStepBySize, Prior::kStepByShare, Prior::kStepByRanks, Prior::kCompanion}) {
    if (kept.size() < kLeastTableSamples) break;
    // A fifth less in a fold must still give a table.
    if (other == Prior::kCompanion && companion.size() < 2 * kLeastTableSamples) break;
    const HeldOut by_protocol = hold_out(scored, companion, fit_with(other));
    if (by_protocol.mean() >= kGain * held_out.mean()) continue;
    prior = other;
    held_out = by_protocol;
    score.form = other == Prior::kCompanion ? "table, as companion" : "table, two protocols";
  }
  score.by_size = held_out.by_size;
  score.by_shape = held_out.by_shape;
  const FittedLink fitted = fit_with(prior)(kept, companion);
  score.other_sources = score_other_sources(
      others, sources, [&](const CollectiveSample& sample) { return predict(fitted, sample); });
  device.profile = fitted.hardware.device.profile;
}

}  // namespace trainfront::costmodel
