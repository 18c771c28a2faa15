#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "costmodel/monotone_table.hpp"

namespace trainfront::costmodel {

struct TableSample {
  std::array<double, 3> size{1, 1, 1};
  double log_value = 0;
  double weight = 1;
};

struct TableShape {
  std::array<std::vector<double>, 3> axes;      // log2 of the nodes; a single 0 where there is no such size
  std::array<bool, 3> rises{true, true, true};  // along which the values must not fall
};

// Node values for which interpolation meets the samples, by penalised least squares on logarithms: deviations
// from `prior` (the parametric form's logarithm at sizes) are held smooth and, where nothing was measured,
// small. Outliers count by their absolute and not their squared error (iteratively reweighted). Sizes along
// `rises` axes are made monotone, first by penalty, then by the mean of running maximum and running minimum.
MonotoneTable fit_table(const TableShape& shape,
                        const std::function<double(const std::array<double, 3>&)>& prior,
                        std::span<const TableSample> samples);

// The nodes of `wanted` (ascending sizes) that lie within the samples' sizes on an axis, and both ends; as
// log2.
std::vector<double> axis_within(std::span<const double> wanted, std::span<const TableSample> samples,
                                std::size_t axis);

}  // namespace trainfront::costmodel
