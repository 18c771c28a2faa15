#include "faults/patch_sharing.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "faults/least_squares.hpp"
#include "faults/renewal.hpp"

namespace trainfront::faults {

PatchFit patch_fit(double weibull_shape) {
  constexpr int kNodes = 20;
  constexpr double kLeast = 0.02;
  constexpr double kMostStep = 1.5;
  constexpr double kMostPatch = 0.8;
  FailureLaw law;
  law.weibull_shape = weibull_shape;
  const Gaps gaps(GapLaw(law), 1);
  LeastSquares<2> steps;
  LeastSquares<3> patches;
  for (int node = 0; node < kNodes; ++node) {
    const double y = kLeast * std::pow(kMostStep / kLeast, node / (kNodes - 1.0));
    const double hit = gaps.hit_in_any(y);
    const double whole = y / hit;
    steps.add({y, y * y}, whole - 1, y / whole);
    for (const double ratio : {0.2, 0.4, 0.6, 0.8, 1.0, 1.2}) {
      const double z = ratio * y;
      if (z > kMostPatch) continue;
      const double unhit = (gaps.hit_in_any(y + z) - gaps.hit_in_any(z)) / hit;
      patches.add({z, z * z, z * y}, 1 / unhit - 1, z * unhit);
    }
  }
  const std::array<double, 2> of_step = steps.solve();
  const std::array<double, 3> of_patch = patches.solve();
  return {of_step[0], of_step[1], of_patch[0], of_patch[1], of_patch[2]};
}

}  // namespace trainfront::faults
