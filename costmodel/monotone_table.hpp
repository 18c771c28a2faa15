#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace trainfront::costmodel {

// A function of up to three sizes, measured: logarithms of its values at the nodes of a grid, interpolated
// linearly in the logarithms of the sizes. Where the node values never fall along an axis, neither does the
// function.
struct MonotoneTable {
  // Ascending log2 of the sizes, at least one node an axis; a single node at 0 where there is no such size.
  std::array<std::vector<double>, 3> axes;
  std::vector<double> log_values;  // the last axis runs fastest

  bool empty() const { return log_values.empty(); }
  // exp of the interpolated logarithm; sizes > 0, those beyond the grid count as its edge.
  double at(double size0, double size1 = 1, double size2 = 1) const;
  // The size as the grid's nearest: itself within the axis, and where there is no such size.
  double clamped(std::size_t axis, double size) const;
  double least(std::size_t axis) const;
  double most(std::size_t axis) const;
  // Between the least and the most that was measured, or just that where it is one; rounding is forgiven.
  bool within(std::size_t axis, double size) const;
  bool covers(double size0, double size1 = 1, double size2 = 1) const;

  bool operator==(const MonotoneTable&) const = default;
};

// The nodes around a place and their weights, which sum to 1.
struct TableCell {
  std::array<std::size_t, 8> node{};
  std::array<double, 8> weight{};
};
TableCell locate(const MonotoneTable& table, double size0, double size1, double size2);

}  // namespace trainfront::costmodel
