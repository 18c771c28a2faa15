#include "costmodel/fit_link_pool.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "costmodel/fit_link_prior.hpp"
#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"
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

// The sizes that a table reaches: those of the samples, and of the table that it is like, if it is to.
std::vector<TableSample> extent_of(Collective collective, const Guide& guide,
                                   std::vector<TableSample> samples) {
  if (!guide.keeps_extent) return samples;
  const MonotoneTable& like = link_of(*guide.like, collective).table;
  for (const double ranks : like.axes[0]) {
    for (const double bytes : {like.least(1), like.most(1)})
      samples.push_back({.size = {std::exp2(ranks), bytes, 1}, .log_value = 0});
  }
  return samples;
}

// True if the samples hold all of the table's ranks, and its least and largest size.
bool reach_as_far(const std::vector<CollectiveSample>& samples, const MonotoneTable& table) {
  double least = INFINITY, most = 0;
  for (const CollectiveSample& sample : samples) {
    least = std::min(least, sample.bytes);
    most = std::max(most, sample.bytes);
  }
  const bool has_all_ranks = std::all_of(table.axes[0].begin(), table.axes[0].end(), [&](double node) {
    return std::any_of(samples.begin(), samples.end(), [&](const CollectiveSample& sample) {
      return sample.placement.ranks == std::lround(std::exp2(node));
    });
  });
  return has_all_ranks && table.within(1, least) && table.within(1, most) &&
         least <= table.least(1) * 1.001 && most >= table.most(1) * 0.999;
}

void add_table(Hardware& hardware, Collective collective, const Guide& guide,
               std::vector<CollectiveSample> samples, const std::map<int, double>& scale) {
  std::vector<TableSample> table_samples;
  for (CollectiveSample& sample : samples) {
    const auto factor = scale.find(sample.source);
    if (factor != scale.end()) sample.seconds /= factor->second;
    const double ranks = sample.placement.ranks;
    table_samples.push_back({.size = {ranks, sample.bytes, 1}, .log_value = std::log(sample.seconds)});
  }
  const std::vector<TableSample> extent = extent_of(collective, guide, table_samples);
  std::vector<double> ranks;
  for (const TableSample& sample : extent) ranks.push_back(std::round(sample.size[0]));
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::array<double, 56> half_octaves{};
  for (std::size_t i = 0; i < half_octaves.size(); ++i)
    half_octaves[i] = std::exp2(9 + 0.5 * static_cast<double>(i));
  const TableShape shape{.axes = {axis_within(ranks, extent, 0), axis_within(half_octaves, extent, 1), {0}},
                         .rises = {false, true, true}};
  MonotoneTable table = fit_table(shape, link_prior(hardware, collective, guide, samples), table_samples);
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

FittedLink fit_pooled(const Hardware& start, Collective collective, const Guide& guide,
                      const std::vector<bool>& preferred, const std::vector<CollectiveSample>& samples) {
  const int reference = reference_source(samples, preferred);
  std::map<int, std::vector<CollectiveSample>> by_source;
  for (const CollectiveSample& sample : samples) by_source[sample.source].push_back(sample);
  const auto is_enough = [&](const std::vector<CollectiveSample>& list) {
    const bool by_library = guide.shape == Shape::kByLibrary || guide.shape == Shape::kByLibraryBeside;
    return guide.like != nullptr || by_library || list.size() >= kLeastTableSamples;
  };
  FittedLink fitted{start, {}};
  link_of(fitted.hardware, collective).table = {};
  if (!guide.keeps_extent || by_source[reference].size() >= kLeastTableSamples)
    fitted.hardware = fit_form(start, collective, by_source[reference]);
  if (is_enough(by_source[reference]))
    add_table(fitted.hardware, collective, guide, by_source[reference], {});
  for (const auto& [source, list] : by_source) {
    if (source == reference) continue;
    std::vector<double> ratios;
    for (const CollectiveSample& sample : list) {
      ratios.push_back(sample.seconds /
                       collective_time(fitted.hardware, collective, sample.bytes, sample.placement).seconds);
    }
    fitted.scale[source] = median_of(std::move(ratios));
  }
  if (is_enough(samples)) {
    link_of(fitted.hardware, collective).table = {};
    add_table(fitted.hardware, collective, guide, samples, fitted.scale);
  }
  if (guide.keeps_extent) {
    LinkFit& fit = link_of(fitted.hardware, collective);
    fit.evidence =
        reach_as_far(samples, fit.table) ? Evidence::kCalibrated : link_of(start, collective).evidence;
  }
  return fitted;
}

}  // namespace trainfront::costmodel
