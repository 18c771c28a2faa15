#pragma once

#include <cmath>
#include <optional>

namespace trainfront::inputs {

// Of ranks or nodes that a file states: a whole number from 1 to kMostCounted, so that sums of it fit an int.
inline constexpr double kMostCounted = 1e7;
inline std::optional<int> count_of(double number) {
  if (!(number >= 1 && number <= kMostCounted) || number != std::floor(number)) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace trainfront::inputs
