#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace trainfront::faults {

// Weighted linear least squares in few unknowns, by the normal equations.
template <std::size_t N>
class LeastSquares {
 public:
  // That sum of terms times unknowns should be `value`; its error counts `weight` times.
  void add(const std::array<double, N>& terms, double value, double weight) {
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) normal_[i][j] += weight * weight * terms[i] * terms[j];
      normal_[i][N] += weight * weight * terms[i] * value;
    }
  }

  // Gauss with pivots.
  std::array<double, N> solve() const {
    auto m = normal_;
    for (std::size_t column = 0; column < N; ++column) {
      std::size_t pivot = column;
      for (std::size_t row = column + 1; row < N; ++row) {
        if (std::abs(m[row][column]) > std::abs(m[pivot][column])) pivot = row;
      }
      std::swap(m[column], m[pivot]);
      for (std::size_t row = 0; row < N; ++row) {
        if (row == column) continue;
        const double factor = m[row][column] / m[column][column];
        for (std::size_t i = column; i <= N; ++i) m[row][i] -= factor * m[column][i];
      }
    }
    std::array<double, N> unknowns{};
    for (std::size_t i = 0; i < N; ++i) unknowns[i] = m[i][N] / m[i][i];
    return unknowns;
  }

 private:
  std::array<std::array<double, N + 1>, N> normal_{};
};

}  // namespace trainfront::faults
