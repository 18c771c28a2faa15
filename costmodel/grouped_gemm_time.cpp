#include <algorithm>
#include <array>
#include <cmath>

#include "costmodel/kernel_time.hpp"
#include "costmodel/norm_sum.hpp"

namespace trainfront::costmodel {
namespace {

struct Tile {
  double rows, columns, speed;
};
constexpr std::array<Tile, 6> kTiles{
    {{128, 256, 1}, {128, 128, 0.9}, {64, 256, 0.8}, {64, 128, 0.7}, {32, 128, 0.45}, {16, 128, 0.25}}};

// The tables end at some thousand tokens an expert, where memory still counts; beyond, a product of groups
// runs no faster than this times the plain one: H100's ratio, whose rates training runs bear out.
constexpr double kOverPlain = 1.19;

double peak_rate(const DeviceProfile& profile, Precision precision) {
  if (precision == Precision::kFp8) return profile.grouped_fp8.flops_per_s;
  return std::min(profile.grouped_bf16.flops_per_s, kOverPlain * profile.bf16.flops_per_s);
}

}  // namespace

// Rows are padded to tiles expert by expert, waves are filled by all experts together. Fitted on the
// fused-MoE tables of aiconfigurator (github.com/ai-dynamo/aiconfigurator, 095f58a, moe_perf), 2026-11-29.
Timed grouped_gemm_time(const Device& device, Precision precision, int experts, double tokens_per_expert,
                        double n, double k) {
  const GemmFit& fit =
      precision == Precision::kFp8 ? device.profile.grouped_fp8 : device.profile.grouped_bf16;
  if (experts <= 0 || tokens_per_expert <= 0 || n <= 0 || k <= 0) return {0, fit.evidence};
  const double input_bytes = precision == Precision::kFp8 ? 1 : 2;
  double padded = INFINITY;
  for (const Tile& tile : kTiles) {
    const double blocks = experts * std::ceil(tokens_per_expert / tile.rows) * std::ceil(n / tile.columns);
    const double waves = std::ceil(blocks / device.compute_units);
    padded = std::min(padded, waves * device.compute_units * tile.rows * tile.columns / tile.speed);
  }
  const double assignments = experts * tokens_per_expert;
  const double compute_s = 2 * padded * (k + fit.k_half) / peak_rate(device.profile, precision);
  const double memory_s =
      (input_bytes * k * (experts * n + assignments) + 2 * assignments * n) / fit.bytes_per_s;
  return {fit.sustained_slowdown * (fit.launch_s + norm_sum(compute_s, memory_s, fit.norm)), fit.evidence};
}

}  // namespace trainfront::costmodel
