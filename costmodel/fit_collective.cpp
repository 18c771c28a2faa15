#include "costmodel/fit_collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/fit_protocols.hpp"
#include "costmodel/fit_table.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kTableSamples = 24;
constexpr double kLeastScoredBytes = 65536;
constexpr double kStrangePercent = 6;
constexpr double kGain = 0.97;  // a step must earn its place

// What the table's values are held near: one form for all sizes, or one for each protocol, with a step
// between them at one size or at one size a rank.
enum class Prior { kForm, kStepBySize, kStepByShare };

// A device's profile with one collective fitted, and each source's factor.
struct FittedLink {
  Hardware hardware;
  std::map<int, double> scale;
};

double predict(const FittedLink& fitted, const CollectiveSample& sample) {
  const auto scale = fitted.scale.find(sample.source);
  return collective_time(fitted.hardware, sample.collective, sample.bytes, sample.placement).seconds *
         (scale == fitted.scale.end() ? 1 : scale->second);
}

LinkFit& link_of(Hardware& hardware, Collective collective) {
  return hardware.device.profile.link[static_cast<std::size_t>(collective)];
}

int reference_source(const std::vector<CollectiveSample>& samples, const std::vector<bool>& preferred) {
  std::map<int, std::size_t> counts;
  for (const CollectiveSample& sample : samples) {
    counts[sample.source] += preferred[static_cast<std::size_t>(sample.source)] ? samples.size() : 1;
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

Hardware fit_form(const Hardware& start, Collective collective,
                  const std::vector<CollectiveSample>& samples) {
  Hardware trial = start;
  LinkFit& fit = link_of(trial, collective);
  fit.table = {};
  SwitchReduceFit& in_switch = trial.device.profile.switch_reduce;
  const SwitchReduceFit switch_start = in_switch;
  const bool fits_switch = collective == Collective::kAllReduce && in_switch.min_ranks > 0;
  const auto set = [&](const std::vector<double>& x) {
    fit.base_s = std::exp(x[0]);
    fit.per_rank_s = std::exp(x[1]);
    // The rate that the largest messages approach is anchored to the data sheet: W stays below 1.
    fit.link_share = 1 / (1 + std::exp(-x[2]));
    fit.copy_share = std::max(fit.link_share, std::exp(x[3]));
    fit.root_s = std::exp(x[4]);
    if (!fits_switch) return;
    in_switch.base_s = switch_start.base_s * std::exp(x[5]);
    in_switch.link_share = std::min(1.0, switch_start.link_share * std::exp(x[6]));
    in_switch.root_s = switch_start.root_s * std::exp(x[7]);
  };
  const auto cost = [&](const std::vector<double>& x) {
    set(x);
    double sum = 0;
    for (const CollectiveSample& sample : samples) {
      sum += robust_cost(collective_time(trial, collective, sample.bytes, sample.placement).seconds,
                         sample.seconds);
    }
    return sum;
  };
  std::vector<double> x{std::log(7e-6), std::log(7e-7), 1.7, 0.7, std::log(4e-3)};
  if (fits_switch) x.insert(x.end(), {0, 0, 0});
  x = minimize(cost, x, 0.3, 300);
  set(minimize(cost, x, 0.2, 200));
  fit.evidence = Evidence::kCalibrated;
  return trial;
}

void add_table(Hardware& hardware, Collective collective, Prior kind, std::vector<CollectiveSample> samples,
               const std::map<int, double>& scale) {
  std::vector<TableSample> table_samples;
  std::vector<double> ranks;
  for (CollectiveSample& sample : samples) {
    const double size = sample.placement.ranks;
    const auto factor = scale.find(sample.source);
    if (factor != scale.end()) sample.seconds /= factor->second;
    table_samples.push_back({{size, sample.bytes, 1}, std::log(sample.seconds)});
    if (std::find(ranks.begin(), ranks.end(), size) == ranks.end()) ranks.push_back(size);
  }
  std::sort(ranks.begin(), ranks.end());
  std::array<double, 56> half_octaves{};
  for (std::size_t i = 0; i < half_octaves.size(); ++i)
    half_octaves[i] = std::exp2(9 + 0.5 * static_cast<double>(i));
  const TableShape shape{
      .axes = {axis_within(ranks, table_samples, 0), axis_within(half_octaves, table_samples, 1), {0}},
      .rises = {false, true, true}};
  using Step = ProtocolSteps::Step;
  ProtocolSteps protocols;
  if (kind != Prior::kForm) {
    const Step step = kind == Prior::kStepBySize ? Step::kBySize : Step::kByShare;
    protocols = ProtocolSteps::fitted(hardware.device, collective, step, samples);
  }
  const auto prior = [&](const std::array<double, 3>& size) {
    if (kind != Prior::kForm) return std::log(protocols.seconds(size[1], size[0]));
    const int count = static_cast<int>(std::lround(size[0]));
    return std::log(collective_time(hardware, collective, size[1], {count, 1, count}).seconds);
  };
  MonotoneTable table = fit_table(shape, prior, table_samples);
  link_of(hardware, collective).table = std::move(table);
}

FittedLink fit_pooled(const Hardware& start, Collective collective, Prior prior,
                      const std::vector<bool>& preferred, const std::vector<CollectiveSample>& samples) {
  const int reference = reference_source(samples, preferred);
  std::map<int, std::vector<CollectiveSample>> by_source;
  for (const CollectiveSample& sample : samples) by_source[sample.source].push_back(sample);
  FittedLink fitted{fit_form(start, collective, by_source[reference]), {}};
  if (by_source[reference].size() >= kTableSamples) {
    add_table(fitted.hardware, collective, prior, by_source[reference], {});
  }
  for (const auto& [source, list] : by_source) {
    if (source == reference) continue;
    std::vector<double> ratios;
    for (const CollectiveSample& sample : list) {
      ratios.push_back(sample.seconds /
                       collective_time(fitted.hardware, collective, sample.bytes, sample.placement).seconds);
    }
    fitted.scale[source] = median_of(std::move(ratios));
  }
  if (samples.size() >= kTableSamples) {
    link_of(fitted.hardware, collective).table = {};
    add_table(fitted.hardware, collective, prior, samples, fitted.scale);
  }
  return fitted;
}

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

template <typename Fit>
HeldOut hold_out(const std::vector<CollectiveSample>& scored, const Fit& fit_seen) {
  HeldOut result;
  result.by_size = summarize(held_out_errors(
      scored, [](const CollectiveSample& sample) { return static_cast<std::uint64_t>(sample.bytes); },
      fit_seen, predict));
  result.by_shape = summarize(held_out_errors(
      scored,
      [](const CollectiveSample& sample) {
        return static_cast<std::uint64_t>(sample.bytes) * 64 +
               static_cast<std::uint64_t>(sample.placement.ranks) * 7;
      },
      fit_seen, predict));
  return result;
}

}  // namespace

void fit_link(Device& device, Collective collective, const std::vector<CollectiveSample>& samples,
              const std::vector<std::string>& sources, const std::vector<bool>& preferred, FitScore& score,
              std::vector<std::string>& left_out) {
  Hardware hardware;
  hardware.device = device;
  std::vector<CollectiveSample> kept = plausible(hardware, collective, samples, sources, left_out);
  if (kept.empty()) return;
  const auto fit_with = [&](Prior prior) {
    return [&, prior](const std::vector<CollectiveSample>& seen) {
      return fit_pooled(hardware, collective, prior, preferred, seen);
    };
  };
  std::vector<CollectiveSample> others;
  // Judged by a fit on the reference alone: a large stranger would bend a pooled one its way.
  const int reference = reference_source(kept, preferred);
  std::vector<CollectiveSample> of_reference;
  for (const CollectiveSample& sample : kept) {
    if (sample.source == reference) of_reference.push_back(sample);
  }
  split_off_strangers(fit_with(Prior::kForm)(of_reference), reference, kept, others);
  std::vector<CollectiveSample> scored;
  for (const CollectiveSample& sample : kept) {
    if (sample.bytes >= kLeastScoredBytes) scored.push_back(sample);
  }
  score.form = kept.size() >= kTableSamples ? "table" : "form";
  score.samples = kept.size();
  Prior prior = Prior::kForm;
  HeldOut held_out = hold_out(scored, fit_with(prior));
  for (const Prior other : {Prior::kStepBySize, Prior::kStepByShare}) {
    if (kept.size() < kTableSamples) break;
    const HeldOut by_protocol = hold_out(scored, fit_with(other));
    if (by_protocol.mean() >= kGain * held_out.mean()) continue;
    prior = other;
    held_out = by_protocol;
    score.form = "table, two protocols";
  }
  score.by_size = held_out.by_size;
  score.by_shape = held_out.by_shape;
  const FittedLink fitted = fit_with(prior)(kept);
  score.other_sources = score_other_sources(
      others, sources, [&](const CollectiveSample& sample) { return predict(fitted, sample); });
  device.profile = fitted.hardware.device.profile;
}

}  // namespace trainfront::costmodel
