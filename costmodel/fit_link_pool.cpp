#include "costmodel/fit_link_pool.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/fit_protocols.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/fit_table.hpp"

namespace trainfront::costmodel {
namespace {

LinkFit& link_of(Hardware& hardware, Collective collective) {
  return hardware.device.profile.link[static_cast<std::size_t>(collective)];
}

const LinkFit& link_of(const Hardware& hardware, Collective collective) {
  return hardware.device.profile.link[static_cast<std::size_t>(collective)];
}

// The logarithm of the companion's table over its form, at the nearest size that the table holds.
double deviation(const Companion& companion, double bytes, double ranks) {
  const MonotoneTable& table = link_of(*companion.hardware, companion.collective).table;
  if (table.empty()) return 0;
  const double near_bytes = table.clamped(1, bytes);
  const int near_ranks = static_cast<int>(std::lround(table.clamped(0, ranks)));
  Hardware form = *companion.hardware;
  link_of(form, companion.collective).table = {};
  const Placement placement{near_ranks, 1, near_ranks};
  return std::log(table.at(near_ranks, near_bytes) /
                  collective_time(form, companion.collective, near_bytes, placement).seconds);
}

void add_table(Hardware& hardware, Collective collective, Prior kind, std::vector<CollectiveSample> samples,
               const std::map<int, double>& scale, const Companion& companion) {
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
  const bool has_steps =
      kind == Prior::kStepBySize || kind == Prior::kStepByShare || kind == Prior::kStepByRanks;
  if (has_steps) {
    const Step step = kind == Prior::kStepBySize    ? Step::kBySize
                      : kind == Prior::kStepByShare ? Step::kByShare
                                                    : Step::kByRanks;
    protocols = ProtocolSteps::fitted(hardware.device, collective, step, samples);
  }
  const auto prior = [&](const std::array<double, 3>& size) {
    if (has_steps) return std::log(protocols.seconds(size[1], size[0]));
    const int count = static_cast<int>(std::lround(size[0]));
    const double form = std::log(collective_time(hardware, collective, size[1], {count, 1, count}).seconds);
    return kind == Prior::kCompanion ? form + deviation(companion, size[1], size[0]) : form;
  };
  MonotoneTable table = fit_table(shape, prior, table_samples);
  link_of(hardware, collective).table = std::move(table);
}

}  // namespace

double predict(const FittedLink& fitted, const CollectiveSample& sample) {
  const auto scale = fitted.scale.find(sample.source);
  return collective_time(fitted.hardware, sample.collective, sample.bytes, sample.placement).seconds *
         (scale == fitted.scale.end() ? 1 : scale->second);
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

FittedLink fit_pooled(const Hardware& start, Collective collective, Prior prior,
                      const std::vector<bool>& preferred, const std::vector<CollectiveSample>& samples,
                      const Companion& companion) {
  const int reference = reference_source(samples, preferred);
  std::map<int, std::vector<CollectiveSample>> by_source;
  for (const CollectiveSample& sample : samples) by_source[sample.source].push_back(sample);
  FittedLink fitted{fit_form(start, collective, by_source[reference]), {}};
  if (by_source[reference].size() >= kLeastTableSamples) {
    add_table(fitted.hardware, collective, prior, by_source[reference], {}, companion);
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
  if (samples.size() >= kLeastTableSamples) {
    link_of(fitted.hardware, collective).table = {};
    add_table(fitted.hardware, collective, prior, samples, fitted.scale, companion);
  }
  return fitted;
}

}  // namespace trainfront::costmodel
