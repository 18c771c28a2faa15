#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "costmodel/device_profile.hpp"

namespace trainfront::inputs {

// The sections and keys of a profile file, in one place for reading and writing. A visitor is called as
// visitor(section, fit, axes, fields), where fields(fit, each) calls each(key, number, least, most) and axes
// names the sizes that fit.table is over (empty: there is no table).

inline constexpr double kTiny = std::numeric_limits<double>::min();
inline constexpr double kHuge = std::numeric_limits<double>::max();

inline constexpr std::array<std::string_view, 10> kMemoryBoundNames{
    "norm",      "add",           "activation", "rotary",  "softmax",
    "embedding", "cross_entropy", "optimizer",  "permute", "copy"};
inline constexpr std::array<std::string_view, 5> kCollectiveNames{
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"};

using AxisNames = std::span<const std::string_view>;
inline constexpr std::array<std::string_view, 3> kGemmAxes{"m", "n", "k"};
inline constexpr std::array<std::string_view, 3> kAttentionAxes{"sequence", "batch_heads", "head_dim"};
inline constexpr std::array<std::string_view, 1> kByteAxes{"bytes"};
inline constexpr std::array<std::string_view, 2> kCollectiveAxes{"ranks", "bytes"};

// Tables are written as thousandths of natural logarithms: finer than any measurement repeats.
inline constexpr double kLogUnit = 1e-3;
inline constexpr int kProfileSchema = 1;
inline constexpr std::array<std::string_view, 4> kEvidenceNames{"calibrated", "interpolated", "extrapolated",
                                                                "data sheet"};

template <typename Visitor>
void visit_profile(auto& profile, Visitor&& visitor) {
  const auto gemm = [](auto& fit, auto&& each) {
    each("flops_per_s", fit.flops_per_s, kTiny, kHuge);
    each("bytes_per_s", fit.bytes_per_s, kTiny, kHuge);
    each("norm", fit.norm, 1.0, 100.0);
    each("launch_s", fit.launch_s, 0.0, 1.0);
    each("occupancy_exponent", fit.occupancy_exponent, 0.0, 1.0);
    each("k_half", fit.k_half, 0.0, kHuge);
    each("k_split", fit.k_split, 0.0, kHuge);
    each("tile_half", fit.tile_half, 0.0, kHuge);
    each("sustained_slowdown", fit.sustained_slowdown, 1.0, 10.0);
    each("form_share", fit.form_share, 0.0, 1.0);
  };
  const auto attention = [](auto& fit, auto&& each) {
    each("flops_per_s", fit.flops_per_s, kTiny, kHuge);
    each("half_sequence", fit.half_sequence, 0.0, kHuge);
    each("softmax_dims", fit.softmax_dims, 0.0, kHuge);
    each("bytes_per_s", fit.bytes_per_s, kTiny, kHuge);
    each("launch_s", fit.launch_s, 0.0, 1.0);
    each("cache_bytes_per_s", fit.cache_bytes_per_s, 0.0, kHuge);
    each("backward_factor", fit.backward_factor, 1.0, 100.0);
  };
  const auto memory_bound = [](auto& fit, auto&& each) {
    each("launch_s", fit.launch_s, 0.0, 1.0);
    each("bytes_per_s", fit.bytes_per_s, kTiny, kHuge);
  };
  const auto link = [](auto& fit, auto&& each) {
    each("base_s", fit.base_s, 0.0, 1.0);
    each("per_rank_s", fit.per_rank_s, 0.0, 1.0);
    each("link_share", fit.link_share, kTiny, 10.0);
    each("copy_share", fit.copy_share, 0.0, kHuge);
    each("root_s", fit.root_s, 0.0, 1.0);
  };
  visitor("gemm.bf16", profile.bf16, AxisNames(kGemmAxes), gemm);
  visitor("gemm.fp8", profile.fp8, AxisNames(kGemmAxes), gemm);
  visitor("grouped_gemm.bf16", profile.grouped_bf16, AxisNames(), gemm);
  visitor("grouped_gemm.fp8", profile.grouped_fp8, AxisNames(), gemm);
  visitor("attention", profile.attention, AxisNames(kAttentionAxes), attention);
  for (std::size_t kind = 0; kind < kMemoryBoundNames.size(); ++kind) {
    visitor("memory_bound." + std::string(kMemoryBoundNames[kind]), profile.memory_bound[kind],
            AxisNames(kByteAxes), memory_bound);
  }
  for (std::size_t kind = 0; kind < kCollectiveNames.size(); ++kind) {
    visitor("collective." + std::string(kCollectiveNames[kind]), profile.link[kind],
            AxisNames(kCollectiveAxes), link);
  }
}

}  // namespace trainfront::inputs
