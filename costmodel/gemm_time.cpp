#include <algorithm>
#include <array>
#include <cmath>

#include "costmodel/kernel_time.hpp"
#include "costmodel/norm_sum.hpp"

namespace trainfront::costmodel {
namespace {

// Output tiles of one thread block, and the speed of their inner loop against the largest.
struct Tile {
  double rows, columns, speed;
};
constexpr std::array<Tile, 5> kTiles{
    {{256, 128, 1}, {128, 256, 1}, {128, 128, 0.9}, {128, 64, 0.75}, {64, 64, 0.55}}};

// Output elements that the device computes while it works on m x n with the best tile: padded to whole tiles
// and whole waves of thread blocks, and counted at the largest tile's speed. >= m n, and grows with both.
double padded_outputs(double m, double n, int compute_units) {
  double best = INFINITY;
  for (const Tile& tile : kTiles) {
    const double blocks = std::ceil(m / tile.rows) * std::ceil(n / tile.columns);
    const double waves = std::ceil(blocks / compute_units);
    best = std::min(best, waves * compute_units * tile.rows * tile.columns / tile.speed);
  }
  return best;
}

}  // namespace

Timed gemm_time(const Device& device, Precision precision, double m, double n, double k) {
  const GemmFit& fit = precision == Precision::kFp8 ? device.profile.fp8 : device.profile.bf16;
  if (m <= 0 || n <= 0 || k <= 0) return {0, fit.evidence};
  const double input_bytes = precision == Precision::kFp8 ? 1 : 2;
  const double outputs = m * n;
  // (padded/outputs)^w outputs grows with m and n as w <= 1: a wave that fills up costs no less.
  const double compute_s =
      2 * outputs * (k + fit.k_half) / fit.flops_per_s *
      std::pow(padded_outputs(m, n, device.compute_units) / outputs, fit.occupancy_exponent);
  const double memory_s = (input_bytes * k * (m + n) + 2 * outputs) / fit.bytes_per_s;
  return {fit.sustained_slowdown * (fit.launch_s + norm_sum(compute_s, memory_s, fit.norm)), fit.evidence};
}

}  // namespace trainfront::costmodel
