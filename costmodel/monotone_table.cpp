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

double MonotoneTable::at(double size0, double size1, double size2) const {
  const TableCell cell = locate(*this, size0, size1, size2);
  double log_value = 0;
  for (std::size_t corner = 0; corner < 8; ++corner)
    log_value += cell.weight[corner] * log_values[cell.node[corner]];
  return std::exp(log_value);
}

double MonotoneTable::least(std::size_t axis) const {
  return std::exp2(axes[axis].front());
}
double MonotoneTable::most(std::size_t axis) const {
  return std::exp2(axes[axis].back());
}

double MonotoneTable::clamped(std::size_t axis, double size) const {
  return axes[axis].size() < 2 ? size : std::clamp(size, least(axis), most(axis));
}

bool MonotoneTable::covers(double size0, double size1, double size2) const {
  // Room for the rounding of logarithms.
  constexpr double kSlack = 1 + 1e-9;
  const std::array<double, 3> size{size0, size1, size2};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axes[axis].size() < 2) continue;
    if (size[axis] * kSlack < least(axis) || size[axis] > most(axis) * kSlack) return false;
  }
  return true;
}

}  // namespace trainfront::costmodel
