#include "costmodel/monotone_table.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::costmodel {
namespace {

struct AxisPlace {
  std::size_t below = 0;
  double share = 0;  // of the way to the next node
};

AxisPlace locate_on(const std::vector<double>& axis, double log_size) {
  if (axis.size() < 2 || log_size <= axis.front()) return {};
  if (log_size >= axis.back()) return {axis.size() - 2, 1};
  const auto above = std::upper_bound(axis.begin(), axis.end(), log_size);
  const auto below = static_cast<std::size_t>(above - axis.begin()) - 1;
  return {below, (log_size - axis[below]) / (axis[below + 1] - axis[below])};
}

bool is_absent(const std::vector<double>& axis) {
  return axis.size() == 1 && axis.front() == 0;
}

}  // namespace

TableCell locate(const MonotoneTable& table, double size0, double size1, double size2) {
  const std::array<AxisPlace, 3> place{locate_on(table.axes[0], std::log2(size0)),
                                       locate_on(table.axes[1], std::log2(size1)),
                                       locate_on(table.axes[2], std::log2(size2))};
  TableCell cell;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    std::size_t node = 0;
    double weight = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool upper = (corner >> axis & 1) != 0;
      const std::size_t last = table.axes[axis].size() - 1;
      node = node * table.axes[axis].size() + std::min(place[axis].below + (upper ? 1 : 0), last);
      weight *= upper ? place[axis].share : 1 - place[axis].share;
    }
    cell.node[corner] = node;
    cell.weight[corner] = weight;
  }
  return cell;
}

// The same cell as locate gives, folded axis by axis: this is in the inner loop of every prediction.
double MonotoneTable::at(double size0, double size1, double size2) const {
  const std::array<double, 3> size{size0, size1, size2};
  std::array<double, 8> value{};
  std::array<std::size_t, 8> corner{0};
  std::array<double, 3> share{};
  std::size_t corners = 1, folds = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t length = axes[axis].size();
    if (length < 2) continue;
    const AxisPlace place = locate_on(axes[axis], std::log2(size[axis]));
    for (std::size_t i = 0; i < corners; ++i) {
      corner[i] = corner[i] * length + place.below;
      corner[i + corners] = corner[i] + 1;
    }
    corners *= 2;
    share[folds++] = place.share;
  }
  for (std::size_t i = 0; i < corners; ++i) value[i] = log_values[corner[i]];
  while (folds > 0) {
    corners /= 2;
    --folds;
    for (std::size_t i = 0; i < corners; ++i) value[i] += share[folds] * (value[i + corners] - value[i]);
  }
  return std::exp(value[0]);
}

double MonotoneTable::least(std::size_t axis) const {
  return std::exp2(axes[axis].front());
}
double MonotoneTable::most(std::size_t axis) const {
  return std::exp2(axes[axis].back());
}

bool MonotoneTable::within(std::size_t axis, double size) const {
  constexpr double kSlack = 1 + 1e-9;  // room for the rounding of logarithms
  return is_absent(axes[axis]) || (size * kSlack >= least(axis) && size <= most(axis) * kSlack);
}

double MonotoneTable::clamped(std::size_t axis, double size) const {
  return within(axis, size) ? size : std::clamp(size, least(axis), most(axis));
}

bool MonotoneTable::covers(double size0, double size1, double size2) const {
  return within(0, size0) && within(1, size1) && within(2, size2);
}

}  // namespace trainfront::costmodel
