#include "costmodel/fit_protocols.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include "costmodel/fit_score.hpp"
#include "costmodel/link_passes.hpp"

namespace trainfront::costmodel {
namespace {

using Constants = ProtocolSteps::Constants;

constexpr int kTerms = std::tuple_size_v<Constants>;
constexpr int kSmallTerms = kTerms - 1;  // the low-latency protocol has no slow start
constexpr double kOutlier = 0.04;        // errors above this count linearly
constexpr int kRounds = 4;
constexpr int kMoveRounds = 3;
constexpr std::size_t kLeastOfAProtocol = 6;
constexpr double kLeastStep = 17, kMostStep = 26;  // log2 of the bytes where steps are looked for

using Row = Eigen::Matrix<double, kTerms, 1>;
using Square = Eigen::Matrix<double, kTerms, kTerms>;

Row terms_of(Collective collective, double link_bytes_per_s, double bytes, double ranks) {
  const double line_s = bytes * link_passes(collective, ranks) / link_bytes_per_s;
  Row row;
  row << 1, ranks - 1, line_s, bytes / link_bytes_per_s / ranks, std::sqrt(line_s);
  return row;
}

// The least x' A x - 2 b' x with no x below 0: of all sets of terms, so few are there, the best feasible one.
Row least_without_negatives(const Square& a, const Row& b, int terms) {
  Row best = Row::Zero();
  double least = 0;
  for (unsigned set = 1; set < 1u << terms; ++set) {
    std::array<int, kTerms> index{};
    int count = 0;
    for (int i = 0; i < terms; ++i) {
      if (set >> i & 1u) index[static_cast<std::size_t>(count++)] = i;
    }
    Eigen::MatrixXd part(count, count);
    Eigen::VectorXd right(count);
    for (int i = 0; i < count; ++i) {
      const int row = index[static_cast<std::size_t>(i)];
      right[i] = b[row];
      for (int j = 0; j < count; ++j) part(i, j) = a(row, index[static_cast<std::size_t>(j)]);
    }
    const Eigen::VectorXd found = part.colPivHouseholderQr().solve(right);
    if (!(found.minCoeff() >= 0)) continue;
    const double value = -found.dot(right);
    if (!(value < least)) continue;
    least = value;
    best.setZero();
    for (int i = 0; i < count; ++i) best[index[static_cast<std::size_t>(i)]] = found[i];
  }
  return best;
}

struct Point {
  Row terms;
  double seconds = 0;
  double bytes = 0, ranks = 0;
};

struct Regime {
  Constants constants{};
  double cost = 0;
};

Regime fit_regime(const std::vector<Point>& points, int terms) {
  // Columns of one length, or sets of terms could not be told apart.
  Row scale = Row::Zero();
  for (const Point& point : points) scale += (point.terms / point.seconds).cwiseAbs2();
  scale = scale.cwiseSqrt();
  for (int i = 0; i < kTerms; ++i) scale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
  Row found = Row::Zero();
  for (int round = 0; round < kRounds; ++round) {
    Square a = Square::Zero();
    Row b = Row::Zero();
    for (const Point& point : points) {
      const Row row = point.terms.cwiseProduct(scale) / point.seconds;
      const double error = std::abs(row.dot(found) - 1);
      const double importance = round > 0 ? 1 / std::max(error / kOutlier, 1.0) : 1;
      a += importance * row * row.transpose();
      b += importance * row;
    }
    found = least_without_negatives(a, b, terms);
  }
  Regime regime;
  for (int i = 0; i < kTerms; ++i) regime.constants[static_cast<std::size_t>(i)] = found[i] * scale[i];
  for (const Point& point : points) {
    const double predicted = found.cwiseProduct(scale).dot(point.terms);
    regime.cost += robust_cost(std::max(predicted, 1e-12), point.seconds);
  }
  return regime;
}

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
  found.small = fit_regime(small, kSmallTerms);
  found.large = fit_regime(large, kTerms);
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
    points.push_back({terms_of(collective, device.link_bytes_per_s, sample.bytes, ranks), sample.seconds,
                      sample.bytes, ranks});
  }
  ProtocolSteps result;
  result.collective_ = collective;
  result.link_bytes_per_s_ = device.link_bytes_per_s;
  result.step_ = kind;
  const Regime whole = fit_regime(points, kTerms);
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
  const Constants& constants = is_small(bytes, ranks) ? small_ : large_;
  const Row terms = terms_of(collective_, link_bytes_per_s_, bytes, ranks);
  double sum = 0;
  for (int i = 0; i < kTerms; ++i) sum += constants[static_cast<std::size_t>(i)] * terms[i];
  return sum;
}

}  // namespace trainfront::costmodel
