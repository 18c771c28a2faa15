#include "costmodel/fit_protocols.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "costmodel/fit_regime.hpp"

namespace trainfront::costmodel {
namespace {

constexpr int kMoveRounds = 3;
constexpr std::size_t kLeastOfAProtocol = 6;
constexpr double kLeastStep = 17, kMostStep = 26;  // log2 of the bytes where steps are looked for

using Point = RegimePoint;

// Both protocols' constants for points that are told apart; a cost of infinity where one has too few.
struct Regimes {
  Regime small, large;
  double cost = INFINITY;
};

template <typename IsSmall>
Regimes fit_regimes(const std::vector<Point>& points, IsSmall&& is_small) {
  std::vector<Point> small, large;
  for (const Point& point : points) (is_small(point) ? small : large).push_back(point);
  Regimes found;
  if (std::min(small.size(), large.size()) < kLeastOfAProtocol) return found;
  found.small = fit_regime(small, kNoRootTerms);
  found.large = fit_regime(large, kRegimeTerms);
  found.cost = found.small.cost + found.large.cost;
  return found;
}

double size_at(ProtocolSteps::Step step, double bytes, double ranks) {
  return step == ProtocolSteps::Step::kByShare ? bytes / ranks : bytes;
}

// log2 of sizes halfway between those that were measured.
std::vector<double> possible_steps(const std::vector<Point>& points, ProtocolSteps::Step kind) {
  std::vector<double> places;
  for (const Point& point : points) places.push_back(std::log2(size_at(kind, point.bytes, point.ranks)));
  std::sort(places.begin(), places.end());
  constexpr double kSame = 1e-6;
  std::vector<double> steps;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double step = (places[i - 1] + places[i]) / 2;
    if (places[i] - places[i - 1] > kSame && step >= kLeastStep && step <= kMostStep) steps.push_back(step);
  }
  return steps;
}

}  // namespace

ProtocolSteps ProtocolSteps::fitted(const Device& device, Collective collective, Step kind,
                                    const std::vector<CollectiveSample>& samples) {
  std::vector<Point> points;
  for (const CollectiveSample& sample : samples) {
    const double ranks = sample.placement.ranks;
    points.push_back({regime_terms(collective, device.link_bytes_per_s, sample.bytes, ranks), sample.seconds,
                      sample.bytes, ranks});
  }
  ProtocolSteps result;
  result.collective_ = collective;
  result.link_bytes_per_s_ = device.link_bytes_per_s;
  result.step_ = kind;
  const Regime whole = fit_regime(points, kRegimeTerms);
  result.small_ = result.large_ = whole.constants;
  double least = whole.cost;
  const auto take = [&](const Regimes& regimes) {
    least = regimes.cost;
    result.small_ = regimes.small.constants;
    result.large_ = regimes.large.constants;
  };
  for (const double step : possible_steps(points, kind)) {
    const double bytes = std::exp2(step);
    const Regimes regimes = fit_regimes(
        points, [&](const Point& point) { return size_at(kind, point.bytes, point.ranks) <= bytes; });
    if (regimes.cost >= least) continue;
    take(regimes);
    result.step_bytes_ = bytes;
  }
  if (kind != Step::kByRanks || !result.has_step()) return result;

  // From that one size on, each number of ranks in turn moves its step to where all fits best.
  std::map<double, std::vector<Point>> by_ranks;
  for (const Point& point : points) by_ranks[point.ranks].push_back(point);
  for (const auto& [ranks, list] : by_ranks)
    result.of_ranks_.emplace_back(ranks, std::log2(result.step_bytes_));
  const auto is_small = [&](const Point& point) { return result.is_small(point.bytes, point.ranks); };
  for (int round = 0; round < kMoveRounds; ++round) {
    bool moved = false;
    for (auto& [ranks, place] : result.of_ranks_) {
      double best = place;
      for (const double step : possible_steps(by_ranks[ranks], kind)) {
        place = step;
        const Regimes regimes = fit_regimes(points, is_small);
        if (regimes.cost >= least) continue;
        take(regimes);
        best = step;
        moved = true;
      }
      place = best;
    }
    if (!moved) break;
  }
  return result;
}

double ProtocolSteps::step_bytes(double ranks) const {
  if (of_ranks_.empty()) return step_ == Step::kByShare ? step_bytes_ * ranks : step_bytes_;
  const auto above = std::find_if(of_ranks_.begin(), of_ranks_.end(),
                                  [&](const auto& known) { return known.first >= ranks; });
  if (above == of_ranks_.end()) return std::exp2(of_ranks_.back().second);
  if (above == of_ranks_.begin()) return std::exp2(above->second);
  const auto below = above - 1;
  const double way = std::log(ranks / below->first) / std::log(above->first / below->first);
  return std::exp2(below->second + way * (above->second - below->second));
}

bool ProtocolSteps::is_small(double bytes, double ranks) const {
  return of_ranks_.empty() ? size_at(step_, bytes, ranks) <= step_bytes_ : bytes <= step_bytes(ranks);
}

double ProtocolSteps::seconds(double bytes, double ranks) const {
  return regime_seconds(is_small(bytes, ranks) ? small_ : large_,
                        regime_terms(collective_, link_bytes_per_s_, bytes, ranks));
}

}  // namespace trainfront::costmodel
