#include "costmodel/fit_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"

namespace trainfront::costmodel {
namespace {

using Sources = std::map<int, std::vector<CollectiveSample>>;

Sources by_source(const std::vector<CollectiveSample>& samples) {
  Sources sources;
  for (const CollectiveSample& sample : samples) sources[sample.source].push_back(sample);
  return sources;
}

std::vector<CollectiveSample> large_of(const std::vector<CollectiveSample>& samples) {
  std::vector<CollectiveSample> large;
  for (const CollectiveSample& sample : samples) {
    if (sample.bytes >= kNetworkBytes) large.push_back(sample);
  }
  return large;
}

double predict(Hardware hardware, const NetworkFit& fit, const CollectiveSample& sample) {
  hardware.device.profile.network = fit;
  hardware.device.profile.network.kind = hardware.network.kind;
  hardware.network.nic_bytes_per_s = sample.nic_bytes_per_s;
  return collective_time(hardware, sample.collective, sample.bytes, sample.placement).seconds;
}

NetworkFit fit_to(const Hardware& hardware, const std::vector<CollectiveSample>& samples) {
  std::vector<CollectiveSample> seen = large_of(samples);
  if (seen.size() < kLeastNetworkSamples) seen = samples;
  Hardware trial = hardware;
  NetworkFit& fit = trial.device.profile.network;
  fit = {.kind = hardware.network.kind};
  const auto cost = [&](const std::vector<double>& x) {
    fit.latency_scale = std::exp(x[0]);
    fit.efficiency = 1 / (1 + std::exp(-x[1]));
    double sum = 0;
    for (const CollectiveSample& sample : seen) {
      trial.network.nic_bytes_per_s = sample.nic_bytes_per_s;
      sum += robust_cost(collective_time(trial, sample.collective, sample.bytes, sample.placement).seconds,
                         sample.seconds);
    }
    return sum;
  };
  // The protocols' least is a kinked function: a start for each order of latency.
  std::vector<double> best;
  for (const double start : {0.0, 1.0, 2.0, 3.0}) {
    const std::vector<double> found = minimize(cost, {start, 2.6}, 0.4, 150);
    if (best.empty() || cost(found) < cost(best)) best = found;
  }
  cost(best);
  NetworkFit result = fit;
  for (const CollectiveSample& sample : samples) {
    result.most_domains = std::max(result.most_domains, sample.placement.domains);
    result.of_collective[static_cast<std::size_t>(sample.collective)] = true;
  }
  return result;
}

}  // namespace

bool runs_over_its_fabric(const Hardware& hardware, const std::vector<CollectiveSample>& samples) {
  constexpr double kLarge = 16 << 20;
  Hardware stated = hardware;
  stated.device.profile.network = {};
  stated.network.latency_scale = 1;
  stated.network.efficiency = 1;
  std::vector<double> ratios;
  for (const CollectiveSample& sample : samples) {
    if (sample.bytes < kLarge) continue;
    stated.network.nic_bytes_per_s = sample.nic_bytes_per_s;
    ratios.push_back(sample.seconds /
                     collective_time(stated, sample.collective, sample.bytes, sample.placement).seconds);
  }
  return ratios.empty() || median_of(std::move(ratios)) < kFarOff;
}

NetworkFit fit_network(const Hardware& hardware, const std::vector<CollectiveSample>& samples,
                       const std::vector<std::string>& sources, FitScore& score,
                       std::vector<std::string>& left_out) {
  std::vector<CollectiveSample> kept;
  for (const auto& [source, list] : by_source(samples)) {
    if (runs_over_its_fabric(hardware, list)) {
      kept.insert(kept.end(), list.begin(), list.end());
    } else {
      left_out.push_back(sources[static_cast<std::size_t>(source)]);
    }
  }
  score.operation = "network";
  score.form = "form";
  score.samples = kept.size();
  if (kept.size() < kLeastNetworkSamples) return {};

  const std::vector<CollectiveSample> large = large_of(kept);
  score.by_size = summarize(held_out_errors(
      large, [](const CollectiveSample& sample) { return static_cast<std::uint64_t>(sample.bytes); },
      [&](const std::vector<CollectiveSample>& seen) { return fit_to(hardware, seen); },
      [&](const NetworkFit& fit, const CollectiveSample& sample) { return predict(hardware, fit, sample); }));
  std::vector<double> errors;
  const Sources of_source = by_source(kept);
  for (const auto& [source, list] : of_source) {
    if (of_source.size() < 2) break;
    std::vector<CollectiveSample> seen;
    for (const CollectiveSample& sample : kept) {
      if (sample.source != source) seen.push_back(sample);
    }
    const NetworkFit fit = fit_to(hardware, seen);
    for (const CollectiveSample& sample : large_of(list)) {
      errors.push_back(predict(hardware, fit, sample) / sample.seconds - 1);
    }
  }
  score.by_shape = summarize(errors);
  return fit_to(hardware, kept);
}

}  // namespace trainfront::costmodel
