#include "costmodel/data_sheet_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "costmodel/collective_time.hpp"
#include "costmodel/device_family.hpp"
#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {
namespace {

// What a measured device reached: shares of its data sheet's rates, and times of their own.
struct Family {
  double gemm_peak, gemm_memory, gemm_norm, gemm_launch_us, occupancy_exponent, k_half, k_split, tile_half;
  double sustained_slowdown;
  double fp8_over_bf16;  // of the peak ratio
  double grouped_peak, grouped_memory;
  double attention_peak, half_sequence, softmax_dims, backward_factor;
  double norm, add, activation, rotary, softmax, permute, other;  // of the memory rate
  double element_launch_us;
  double ring_base_us, ring_per_rank_us, ring_link, ring_copy, ring_root;  // LinkFit's, root in sqrt(us)
  double all_to_all_base_us, all_to_all_per_rank_us, all_to_all_link, all_to_all_copy, all_to_all_root;
  double send_base_us, send_link;
  double switch_ranks, switch_base_us, switch_link, switch_root;  // 0 ranks: no reduction in the switch
};

// GEMM, collectives, attention: aiconfigurator operator tables (github.com/ai-dynamo/aiconfigurator,
// 095f58a); element-wise: vidur and Liger-Kernel benchmark tables; sustained clocks: MAMF
// (stas00/ml-engineering) and MosaicML's and NeMo's published training runs. 2026-11-29. Where Blackwell was
// not measured it has Hopper's.
struct Constant {
  double Family::*member;
  double ampere, hopper, blackwell;
};
constexpr std::array kConstants{
    Constant{&Family::gemm_peak, 281.6 / 312, 836.3 / 989.4, 1665.6 / 2250},
    Constant{&Family::gemm_memory, 1.484 / 2.039, 2.714 / 3.35, 5.879 / 8},
    Constant{&Family::gemm_norm, 2.5, 3.38, 1.94},
    Constant{&Family::gemm_launch_us, 3.7, 2.7, 2.2},
    Constant{&Family::occupancy_exponent, 0.83, 1, 1},
    Constant{&Family::k_half, 129, 109, 3.5},
    Constant{&Family::k_split, 2860, 4810, 18300},
    Constant{&Family::tile_half, 34.6, 2.4, 2.7},
    Constant{&Family::sustained_slowdown, 1, 1.08, 1.08},
    Constant{&Family::fp8_over_bf16, 0.89, 0.89, 0.89},
    Constant{&Family::grouped_peak, 0.83, 975.0 / 989.4, 2285.0 / 2250},
    Constant{&Family::grouped_memory, 0.93, 3.1 / 3.35, 7.3 / 8},
    Constant{&Family::attention_peak, 207.0 / 312, 600.0 / 989.4, 1176.0 / 2250},
    Constant{&Family::half_sequence, 200, 600, 1790},
    // Head size 64 runs at 0.8 of the rate of 128 before Blackwell, at 0.7 on B200.
    Constant{&Family::softmax_dims, 42.7, 42.7, 87.4},
    Constant{&Family::backward_factor, 2.5, 2.9, 2.9},
    Constant{&Family::norm, 0.39, 0.37, 0.37},
    Constant{&Family::add, 0.83, 0.9, 0.9},
    Constant{&Family::activation, 0.49, 0.55, 0.55},
    Constant{&Family::rotary, 0.42, 0.45, 0.45},
    Constant{&Family::softmax, 0.69, 0.69, 0.69},
    Constant{&Family::permute, 0.6, 0.6, 0.39},
    Constant{&Family::other, 0.8, 0.8, 0.8},
    Constant{&Family::element_launch_us, 4, 3, 3},
    Constant{&Family::ring_base_us, 6.9, 3.8, 6.3},
    Constant{&Family::ring_per_rank_us, 0.84, 0.86, 1.3},
    Constant{&Family::ring_link, 0.85, 0.92, 0.89},
    Constant{&Family::ring_copy, 2.4, 1.7, 2.0},
    Constant{&Family::ring_root, 6.9, 3.8, 4.8},
    Constant{&Family::all_to_all_base_us, 10.6, 11.2, 13.4},
    Constant{&Family::all_to_all_per_rank_us, 0.25, 0.02, 0.18},
    Constant{&Family::all_to_all_link, 0.79, 0.76, 0.77},
    Constant{&Family::all_to_all_copy, 3.0, 4.9, 0.83},
    Constant{&Family::all_to_all_root, 5.5, 1.7, 2.3},
    Constant{&Family::send_base_us, 14, 7.6, 7.6},
    Constant{&Family::send_link, 1, 361.0 / 450, 361.0 / 450},
    Constant{&Family::switch_ranks, 0, 8, 8},
    Constant{&Family::switch_base_us, 0, 86, 115},
    Constant{&Family::switch_link, 1, 0.692, 0.575},
    Constant{&Family::switch_root, 0, 0.87, 1.65},
};
// Over the ring's of all_gather and reduce_scatter.
constexpr double kAllReduceBase = 1.2, kAllReducePerRank = 1.8;

Family column(double Constant::*of) {
  Family family{};
  for (const Constant& constant : kConstants) family.*constant.member = constant.*of;
  return family;
}

// Blackwell Ultra computes exponentials twice as fast (developer.nvidia.com/blog, "Making Softmax More
// Efficient with NVIDIA Blackwell Ultra").
constexpr double kUltraSoftmax = 0.5;

// The board power of the Blackwell part that a Blackwell Ultra follows (B200, GB200); 0: it is none.
double power_before_w(std::string_view id) {
  if (id.starts_with("b300")) return 1000;
  return id.starts_with("gb300") ? 1200 : 0;
}

bool is_blackwell_ultra(std::string_view id) {
  return power_before_w(id) > 0;
}

// Sustained, clock and voltage fall together: with more power than the part before it, a part of the same
// kind loses less, by about the square root, and never gains over a burst.
double sustained(const Device& device, double slowdown) {
  const double before_w = power_before_w(device.id);
  if (before_w <= 0 || device.power_w <= before_w) return slowdown;
  return std::max(1.0, slowdown * std::sqrt(before_w / device.power_w));
}

constexpr double kHeadDim = 128;     // that attention rates are quoted at
constexpr double kRootMicro = 1e-3;  // sqrt(us) in sqrt(s)

LinkFit link(double base_us, double per_rank_us, double link_share, double copy_share, double root) {
  return {base_us * 1e-6, per_rank_us * 1e-6, link_share,
          copy_share,     root * kRootMicro,  Evidence::kDataSheet};
}

// Hopper's, for want of measurements, at the share of the peak that is known.
Family hopper_at(double gemm_peak, double attention_peak) {
  Family family = column(&Constant::hopper);
  family.gemm_peak = family.grouped_peak = gemm_peak;
  family.attention_peak = attention_peak;
  family.sustained_slowdown = 1;
  family.switch_ranks = 0;
  return family;
}

Family relative_of(const Device& device) {
  // MAMF: 668 of 1307 TFLOP/s on MI300X.
  constexpr double kCdnaPeak = 0.97 * 668.4 / 1307.4;
  switch (family_of(device)) {
    case DeviceFamily::kAmpere:
      return column(&Constant::ampere);
    case DeviceFamily::kVolta: {
      // 83 of 112 TFLOP/s are what cuBLAS reached on a V100 PCIe (Markidis et al., arXiv 1803.04014, section
      // V).
      Family family = column(&Constant::ampere);
      family.gemm_peak = family.grouped_peak = 83.0 / 112;
      return family;
    }
    case DeviceFamily::kBlackwell:
      return column(&Constant::blackwell);
    case DeviceFamily::kCdna:
      return hopper_at(kCdnaPeak, 0.75 * kCdnaPeak);
    case DeviceFamily::kAda:
      // PCIe without NVLink: what an L40S reaches (aiconfigurator, 2 and 4 GPUs).
      return hopper_at(0.6, 0.5);
    case DeviceFamily::kHopper:
    case DeviceFamily::kOther:
      break;
  }
  Family family = column(&Constant::hopper);
  // Matrix units so slow that the softmax hides behind them: 126 of 148 TFLOP/s, in 2048 tokens
  // (FlashAttention-3 and cuDNN; Dao-AILab/flash-attention, issue 1310).
  if (device.id.starts_with("h20-")) {
    family.attention_peak = 0.92;
    family.half_sequence = 150;
  }
  return family;
}

GemmFit gemm_fit(const Family& family, double peak_share, double memory_share, double peak,
                 double memory_rate) {
  return {.flops_per_s = peak_share * peak,
          .bytes_per_s = memory_share * memory_rate,
          .norm = family.gemm_norm,
          .launch_s = family.gemm_launch_us * 1e-6,
          .occupancy_exponent = family.occupancy_exponent,
          .k_half = family.k_half,
          .k_split = family.k_split,
          .tile_half = family.tile_half,
          .sustained_slowdown = family.sustained_slowdown,
          .evidence = Evidence::kDataSheet};
}

}  // namespace

DeviceProfile data_sheet_profile(const Device& device) {
  Family family = relative_of(device);
  const double grouped_slowdown = family.sustained_slowdown > 1 ? sustained(device, 1.1) : 1;
  family.sustained_slowdown = sustained(device, family.sustained_slowdown);
  const double memory_rate = device.memory_bytes_per_s;
  // A device without fp8 units computes fp8 weights in bf16.
  const bool has_fp8 = device.fp8_flops_per_s > 0;
  const double fp8_peak = has_fp8 ? family.fp8_over_bf16 * device.fp8_flops_per_s : device.bf16_flops_per_s;

  DeviceProfile profile;
  profile.name = device.id + " data sheet";
  profile.bf16 = gemm_fit(family, family.gemm_peak, family.gemm_memory, device.bf16_flops_per_s, memory_rate);
  profile.fp8 = gemm_fit(family, family.gemm_peak, family.gemm_memory, fp8_peak, memory_rate);
  // One launch, no split of k; a larger norm because tiles of many experts keep the device evenly busy.
  const auto grouped = [&](double peak) {
    GemmFit fit = gemm_fit(family, family.grouped_peak, family.grouped_memory, peak, memory_rate);
    fit.norm = 3.3;
    fit.launch_s = 8e-6;
    fit.k_half = 0;
    fit.k_split = 0;
    fit.sustained_slowdown = grouped_slowdown;
    return fit;
  };
  profile.grouped_bf16 = grouped(device.bf16_flops_per_s);
  profile.grouped_fp8 = grouped(has_fp8 ? device.fp8_flops_per_s : device.bf16_flops_per_s);

  profile.attention = {
      .flops_per_s = family.attention_peak * device.bf16_flops_per_s * (1 + family.softmax_dims / kHeadDim),
      .half_sequence = family.half_sequence,
      .softmax_dims = (is_blackwell_ultra(device.id) ? kUltraSoftmax : 1) * family.softmax_dims,
      .bytes_per_s = 0.8 * memory_rate,
      .launch_s = 5e-6,
      .backward_factor = family.backward_factor,
      .evidence = Evidence::kDataSheet};

  const auto memory_bound = [&](MemoryBound kind, double share) {
    profile.memory_bound[static_cast<std::size_t>(kind)] = {family.element_launch_us * 1e-6,
                                                            share * memory_rate, Evidence::kDataSheet};
  };
  memory_bound(MemoryBound::kNorm, family.norm);
  memory_bound(MemoryBound::kAdd, family.add);
  memory_bound(MemoryBound::kActivation, family.activation);
  memory_bound(MemoryBound::kRotary, family.rotary);
  memory_bound(MemoryBound::kSoftmax, family.softmax);
  memory_bound(MemoryBound::kEmbedding, family.other);
  memory_bound(MemoryBound::kCrossEntropy, family.other);
  memory_bound(MemoryBound::kOptimizer, family.other);
  memory_bound(MemoryBound::kPermute, family.permute);
  memory_bound(MemoryBound::kCopy, family.other);

  const auto at = [&](Collective collective) -> LinkFit& {
    return profile.link[static_cast<std::size_t>(collective)];
  };
  const LinkFit ring = link(family.ring_base_us, family.ring_per_rank_us, family.ring_link, family.ring_copy,
                            family.ring_root);
  at(Collective::kAllReduce) = ring;
  at(Collective::kAllReduce).base_s *= kAllReduceBase;
  at(Collective::kAllReduce).per_rank_s *= kAllReducePerRank;
  at(Collective::kAllGather) = ring;
  at(Collective::kReduceScatter) = ring;
  at(Collective::kAllToAll) = link(family.all_to_all_base_us, family.all_to_all_per_rank_us,
                                   family.all_to_all_link, family.all_to_all_copy, family.all_to_all_root);
  at(Collective::kSendRecv) = link(family.send_base_us, 0, family.send_link, 0, 0);
  if (family.switch_ranks > 0) {
    profile.switch_reduce = {static_cast<int>(family.switch_ranks), family.switch_base_us * 1e-6,
                             family.switch_link, family.switch_root * kRootMicro};
  }
  profile.sources = {"data sheet of " + device.id};
  return profile;
}

}  // namespace trainfront::costmodel
