#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "costmodel/gemm_form.hpp"
#include "costmodel/kernel_time.hpp"
#include "costmodel/norm_sum.hpp"
#include "costmodel/round_up.hpp"

namespace trainfront::costmodel {
namespace {

// Output tiles of one thread block (CUTLASS and cuBLAS kernels' usual ones), as positions in kEdges.
constexpr std::array<double, 4> kEdges{256, 128, 64, 32};
struct Tile {
  std::size_t rows, columns;
};
constexpr std::array<Tile, 11> kTiles{
    {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 2}}};
// Operands read over outputs, of the largest tile.
constexpr double kLeastTraffic = 1 / 128.0;

// Products that the device computes while it works on m x n x k with the best tile: outputs padded to whole
// tiles and whole waves of thread blocks, and counted at the largest tile's speed; k with what a block costs
// beside its products. Where tiles leave units idle, each shares its k with idle units, down to k_split
// products. Grows with all three.
double padded_work(const GemmFit& fit, double m, double n, double k, int compute_units) {
  std::array<double, kEdges.size()> rows{}, columns{};
  for (std::size_t i = 0; i < kEdges.size(); ++i) {
    rows[i] = round_up(m / kEdges[i]);
    columns[i] = round_up(n / kEdges[i]);
  }
  const double units = compute_units;
  const double least_k = fit.k_split > 0 ? std::min(k, fit.k_split) : k;
  double best = INFINITY;
  for (const Tile& tile : kTiles) {
    const double tile_rows = kEdges[tile.rows], tile_columns = kEdges[tile.columns];
    const double blocks = rows[tile.rows] * columns[tile.columns];
    const double waves = round_up(blocks / units);
    const double traffic = 1 / tile_rows + 1 / tile_columns;
    double k_of_block = k;
    if (least_k < k && 2 * blocks <= units) {
      const auto shares = static_cast<double>(static_cast<std::int64_t>(units / blocks));
      k_of_block = std::max(k / shares, least_k);
    }
    best = std::min(
        best, waves * tile_rows * tile_columns * (1 + fit.tile_half * traffic) * (k_of_block + fit.k_half));
  }
  return best * units / (1 + fit.tile_half * kLeastTraffic);
}

}  // namespace

double gemm_form(const GemmFit& fit, Precision precision, int compute_units, double m, double n, double k) {
  const double work = m * n * (k + fit.k_half);
  // (padded/work)^w work grows with each size as w <= 1: a wave that fills up costs no less.
  const double compute_s = 2 * work / fit.flops_per_s *
                           std::pow(padded_work(fit, m, n, k, compute_units) / work, fit.occupancy_exponent);
  return fit.launch_s + norm_sum(compute_s, gemm_bytes(precision, m, n, k) / fit.bytes_per_s, fit.norm);
}

double gemm_burst(const GemmFit& fit, Precision precision, int compute_units, double m, double n, double k) {
  if (fit.table.empty()) return gemm_form(fit, precision, compute_units, m, n, k);
  const double near_m = fit.table.clamped(0, m), near_n = fit.table.clamped(1, n),
               near_k = fit.table.clamped(2, k);
  double seconds = fit.table.at(m, n, k);
  if (fit.form_share > 0) {
    seconds *= std::pow(gemm_form(fit, precision, compute_units, near_m, near_n, near_k), fit.form_share);
  }
  if (!fit.steps.empty())
    seconds *= step_factor(fit.steps, gemm_traits(precision, compute_units, std::round(near_m),
                                                  std::round(near_n), std::round(near_k)));
  // Beyond the table's upper edges the work that is too much for it is added at the form's rates: both
  // differences grow with every size.
  const double more_flops = 2 * (m * n * k - std::min(m, near_m) * std::min(n, near_n) * std::min(k, near_k));
  const double more_bytes =
      gemm_bytes(precision, m, n, k) -
      gemm_bytes(precision, std::min(m, near_m), std::min(n, near_n), std::min(k, near_k));
  return seconds + std::max(more_flops / fit.flops_per_s, more_bytes / fit.bytes_per_s);
}

Timed gemm_time(const Device& device, Precision precision, double m, double n, double k) {
  const GemmFit& fit = precision == Precision::kFp8 ? device.profile.fp8 : device.profile.bf16;
  if (m <= 0 || n <= 0 || k <= 0) return {0, fit.evidence};
  const bool beyond = !fit.table.empty() && !fit.table.covers(m, n, k);
  return {fit.sustained_slowdown * gemm_burst(fit, precision, device.compute_units, m, n, k),
          beyond ? worst(fit.evidence, Evidence::kExtrapolated) : fit.evidence};
}

}  // namespace trainfront::costmodel
