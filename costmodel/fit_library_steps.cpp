#include "costmodel/fit_library_steps.hpp"

#include <cstddef>

#include "costmodel/fit_other_sources.hpp"

namespace trainfront::costmodel {
namespace {

// Constants are off the model's, after its factor, by 0.4 of themselves, and off a companion's by a fifth; a
// sample is off by 0.04. They were seen on the 21 tables that they are then scored on; three times as much or
// as little moves the tables' mean by less than 0.1 %.
constexpr double kModelPull = 0.01, kCompanionPull = 0.05;

RegimeConstants model_start(const LibraryFabric& fabric, Collective collective, LibraryProtocol protocol) {
  RegimeConstants start = library_constants(fabric, collective, protocol);
  // In a ring a rank's own part goes through its processors as well, which the model leaves out.
  if (protocol != LibraryProtocol::kInSwitch) start[3] = start[2];
  return start;
}

// The start after a factor of its latencies and one of its wire, both near that of the whole where the points
// do not tell them apart.
RegimeConstants scaled(const RegimeConstants& start, double whole, const std::vector<RegimePoint>& points,
                       double weight) {
  std::vector<RegimePoint> parts;
  for (const RegimePoint& point : points) {
    double latency_s = 0, wire_s = 0;
    for (std::size_t i = 0; i < start.size(); ++i) (i < 2 ? latency_s : wire_s) += start[i] * point.terms[i];
    parts.push_back({{latency_s, wire_s}, point.seconds, point.bytes, point.ranks});
  }
  const RegimeConstants factors =
      fit_regime(parts, 2, {.constants = {whole, whole}, .weight = weight}).constants;
  RegimeConstants result = start;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= factors[i < 2 ? 0 : 1];
  return result;
}

}  // namespace

LibrarySteps LibrarySteps::fitted(const LibraryFabric& fabric, Collective collective,
                                  const std::vector<CollectiveSample>& samples,
                                  const LibrarySteps* companion) {
  LibrarySteps result;
  result.fabric_ = fabric;
  result.collective_ = collective;
  std::array<RegimeConstants, kLibraryProtocols> model{}, start{};
  for (std::size_t i = 0; i < kLibraryProtocols; ++i) {
    start[i] = model[i] = model_start(fabric, collective, static_cast<LibraryProtocol>(i));
    if (companion == nullptr || !companion->has(static_cast<LibraryProtocol>(i))) continue;
    start[i] = companion->constants_[i];
    start[i][1] *= ring_rounds(collective) / ring_rounds(companion->collective_);
  }
  std::array<std::vector<RegimePoint>, kLibraryProtocols> points;
  std::array<std::vector<double>, kLibraryProtocols> ratios;
  std::vector<double> model_ratios;
  for (const CollectiveSample& sample : samples) {
    const double ranks = sample.placement.ranks;
    const auto i = static_cast<std::size_t>(library_protocol(fabric, collective, sample.bytes, ranks));
    const RegimeConstants terms = regime_terms(collective, fabric.link_bytes_per_s, sample.bytes, ranks);
    points[i].push_back({terms, sample.seconds, sample.bytes, ranks});
    ratios[i].push_back(sample.seconds / regime_seconds(start[i], terms));
    model_ratios.push_back(sample.seconds / regime_seconds(model[i], terms));
  }
  for (std::size_t i = 0; i < kLibraryProtocols; ++i) {
    const auto protocol = static_cast<LibraryProtocol>(i);
    const bool is_companions = companion != nullptr && companion->has(protocol);
    // A protocol without samples follows the companion's, and the model's after the factor of the others.
    const double factor = !ratios[i].empty() ? median_of(ratios[i])
                          : is_companions    ? 1
                                             : median_of(model_ratios);
    const double weight = is_companions ? kCompanionPull : kModelPull;
    const bool is_low_latency =
        protocol == LibraryProtocol::kLowLatency || protocol == LibraryProtocol::kLowLatency128;
    const RegimePull pull{.constants = scaled(start[i], factor, points[i], weight), .weight = weight};
    result.constants_[i] =
        fit_regime(points[i], is_low_latency ? kNoRootTerms : kRegimeTerms, pull).constants;
  }
  return result;
}

bool LibrarySteps::has(LibraryProtocol protocol) const {
  return protocol != LibraryProtocol::kInSwitch || collective_ == Collective::kAllReduce;
}

double LibrarySteps::seconds(double bytes, double ranks) const {
  const LibraryProtocol protocol = library_protocol(fabric_, collective_, bytes, ranks);
  return regime_seconds(constants_[static_cast<std::size_t>(protocol)],
                        regime_terms(collective_, fabric_.link_bytes_per_s, bytes, ranks));
}

}  // namespace trainfront::costmodel
