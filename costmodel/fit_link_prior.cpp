#include "costmodel/fit_link_prior.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "costmodel/fit_library_steps.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/fit_protocols.hpp"

namespace trainfront::costmodel {
namespace {

const LinkFit& link_of(const Hardware& hardware, Collective collective) {
  return hardware.device.profile.link[static_cast<std::size_t>(collective)];
}

// The logarithm of the companion's table over its form, at the nearest size that the table holds.
double deviation(const Guide& guide, double bytes, double ranks) {
  const MonotoneTable& table = link_of(*guide.companion_fit, guide.companion).table;
  if (table.empty()) return 0;
  const double near_bytes = table.clamped(1, bytes);
  const int near_ranks = static_cast<int>(std::lround(table.clamped(0, ranks)));
  Hardware form = *guide.companion_fit;
  form.device.profile.link[static_cast<std::size_t>(guide.companion)].table = {};
  const Placement placement{near_ranks, 1, near_ranks};
  return std::log(table.at(near_ranks, near_bytes) /
                  collective_time(form, guide.companion, near_bytes, placement).seconds);
}

// The same over the companion's protocols.
double deviation(const Guide& guide, const LibrarySteps& companion, double bytes, double ranks) {
  const MonotoneTable& table = link_of(*guide.companion_fit, guide.companion).table;
  if (table.empty()) return 0;
  const double near_bytes = table.clamped(1, bytes), near_ranks = table.clamped(0, ranks);
  return std::log(table.at(near_ranks, near_bytes) / companion.seconds(near_bytes, near_ranks));
}

double log_time(const Hardware& hardware, Collective collective, double bytes, double ranks) {
  const int count = static_cast<int>(std::lround(ranks));
  return std::log(collective_time(hardware, collective, bytes, {count, 1, count}).seconds);
}

// How much of the samples' factor holds at a size that they do not reach: small messages say nothing of the
// link's rate, nor large ones of starting, beyond a few octaves.
double reach(double least, double most, double bytes) {
  constexpr double kSmall = 64 << 10, kLarge = 16 << 20, kOctaves = 2;
  if (bytes < least && least > kSmall) return std::exp(-std::log2(least / bytes) / kOctaves);
  if (bytes > most && most < kLarge) return std::exp(-std::log2(bytes / most) / kOctaves);
  return 1;
}

}  // namespace

LogTime link_prior(const Hardware& hardware, Collective collective, const Guide& guide,
                   const std::vector<CollectiveSample>& samples) {
  if (guide.like != nullptr) {
    std::vector<double> ratios;
    double least = INFINITY, most = 0;
    for (const CollectiveSample& sample : samples) {
      least = std::min(least, sample.bytes);
      most = std::max(most, sample.bytes);
      ratios.push_back(std::log(sample.seconds) -
                       log_time(*guide.like, collective, sample.bytes, sample.placement.ranks));
    }
    return [&guide, collective, least, most,
            factor = median_of(std::move(ratios))](const std::array<double, 3>& size) {
      return factor * reach(least, most, size[1]) + log_time(*guide.like, collective, size[1], size[0]);
    };
  }
  using Step = ProtocolSteps::Step;
  switch (guide.shape) {
    case Shape::kStepBySize:
    case Shape::kStepByShare:
    case Shape::kStepByRanks: {
      const Step step = guide.shape == Shape::kStepBySize    ? Step::kBySize
                        : guide.shape == Shape::kStepByShare ? Step::kByShare
                                                             : Step::kByRanks;
      return [steps = ProtocolSteps::fitted(hardware.device, collective, step, samples)](
                 const std::array<double, 3>& size) { return std::log(steps.seconds(size[1], size[0])); };
    }
    case Shape::kByLibrary:
      return [steps = LibrarySteps::fitted(library_fabric(hardware.device), collective, samples)](
                 const std::array<double, 3>& size) { return std::log(steps.seconds(size[1], size[0])); };
    case Shape::kByLibraryBeside: {
      const LibrarySteps companion =
          LibrarySteps::fitted(library_fabric(hardware.device), guide.companion, *guide.companion_samples);
      return [&guide, companion,
              own = LibrarySteps::fitted(library_fabric(hardware.device), collective, samples, &companion)](
                 const std::array<double, 3>& size) {
        return std::log(own.seconds(size[1], size[0])) + deviation(guide, companion, size[1], size[0]);
      };
    }
    case Shape::kCompanion:
      return [&guide, &hardware, collective](const std::array<double, 3>& size) {
        return log_time(hardware, collective, size[1], size[0]) + deviation(guide, size[1], size[0]);
      };
    case Shape::kForm:
      break;
  }
  return [&hardware, collective](const std::array<double, 3>& size) {
    return log_time(hardware, collective, size[1], size[0]);
  };
}

}  // namespace trainfront::costmodel
