#include "costmodel/fit_regime.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "costmodel/fit_score.hpp"
#include "costmodel/link_passes.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kOutlier = 0.04;  // errors above this count linearly
constexpr int kRounds = 4;
constexpr double kNothing = 1e-3;  // of the points' times: a constant that makes less counts as none

using RegimeRow = Eigen::Matrix<double, kRegimeTerms, 1>;
using Square = Eigen::Matrix<double, kRegimeTerms, kRegimeTerms>;

// The least x' A x - 2 b' x with no x below 0: of all sets of terms, so few are there, the best feasible one.
RegimeRow least_without_negatives(const Square& a, const RegimeRow& b, int terms) {
  RegimeRow best = RegimeRow::Zero();
  double least = 0;
  for (unsigned set = 1; set < 1u << terms; ++set) {
    std::array<int, kRegimeTerms> index{};
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

Eigen::Map<const RegimeRow> row_of(const RegimePoint& point) {
  return Eigen::Map<const RegimeRow>(point.terms.data());
}

}  // namespace

RegimeConstants regime_terms(Collective collective, double link_bytes_per_s, double bytes, double ranks) {
  const double line_s = bytes * link_passes(collective, ranks) / link_bytes_per_s;
  return {1, ranks - 1, line_s, bytes / link_bytes_per_s / ranks, std::sqrt(line_s)};
}

Regime fit_regime(const std::vector<RegimePoint>& points, int terms, const RegimePull& pull) {
  if (points.empty()) return {.constants = pull.constants};
  // Columns of one length, or sets of terms could not be told apart.
  RegimeRow scale = RegimeRow::Zero();
  for (const RegimePoint& point : points) scale += (row_of(point) / point.seconds).cwiseAbs2();
  scale = scale.cwiseSqrt();
  for (int i = 0; i < kRegimeTerms; ++i) scale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
  RegimeRow near = RegimeRow::Zero();
  for (int i = 0; i < terms; ++i)
    near[i] = scale[i] > 0 ? pull.constants[static_cast<std::size_t>(i)] / scale[i] : 0;
  const double whole = std::sqrt(static_cast<double>(points.size()));  // makes all of the points' times
  RegimeRow found = RegimeRow::Zero();
  for (int round = 0; round < kRounds; ++round) {
    Square a = Square::Zero();
    RegimeRow b = RegimeRow::Zero();
    for (int i = 0; i < terms; ++i) {
      const double width = near[i] > kNothing * whole ? near[i] : whole;
      a(i, i) = pull.weight / (width * width);
      b[i] = pull.weight * near[i] / (width * width);
    }
    for (const RegimePoint& point : points) {
      const RegimeRow row = row_of(point).cwiseProduct(scale) / point.seconds;
      const double error = std::abs(row.dot(found) - 1);
      const double importance = round > 0 ? 1 / std::max(error / kOutlier, 1.0) : 1;
      a += importance * row * row.transpose();
      b += importance * row;
    }
    found = least_without_negatives(a, b, terms);
  }
  Regime regime;
  for (int i = 0; i < kRegimeTerms; ++i) regime.constants[static_cast<std::size_t>(i)] = found[i] * scale[i];
  for (const RegimePoint& point : points) {
    const double predicted = found.cwiseProduct(scale).dot(row_of(point));
    regime.cost += robust_cost(std::max(predicted, 1e-12), point.seconds);
  }
  return regime;
}

double regime_seconds(const RegimeConstants& constants, const RegimeConstants& terms) {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += constants[i] * terms[i];
  return sum;
}

}  // namespace trainfront::costmodel
