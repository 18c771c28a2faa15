#include "costmodel/data_sheet_profile.hpp"

#include <cstddef>
#include <string_view>

#include "costmodel/collective_time.hpp"
#include "costmodel/kernel_time.hpp"

namespace trainfront::costmodel {
namespace {

// What a measured device reached, over its data sheet. GEMM, collectives, attention: aiconfigurator operator
// tables (github.com/ai-dynamo/aiconfigurator, 095f58a); element-wise: vidur and Liger-Kernel benchmark
// tables; sustained clocks: MAMF (stas00/ml-engineering) and MosaicML's and NeMo's published training runs.
// 2026-11-29.
struct Family {
  double gemm_peak, gemm_memory, gemm_norm, gemm_launch_s, occupancy_exponent, k_half, tile_half,
      sustained_slowdown;
  double fp8_over_bf16;  // of the peak ratio
  double grouped_peak, grouped_memory;
  double attention_peak, half_sequence, backward_factor;
  double norm, add, activation, rotary, softmax, permute, other;  // of the memory rate
  double element_launch_s;
  LinkFit ring, all_to_all, send_recv;
  double all_reduce_base, all_reduce_per_rank;  // over the ring's
  SwitchReduceFit switch_reduce;
};

constexpr double kHeadDim = 128;     // that attention rates are quoted at
constexpr double kRootMicro = 1e-3;  // sqrt(us) in sqrt(s)

LinkFit link(double base_us, double per_rank_us, double link_share, double copy_share, double root) {
  return {base_us * 1e-6, per_rank_us * 1e-6, link_share,
          copy_share,     root * kRootMicro,  Evidence::kDataSheet};
}

Family ampere() {
  return {.gemm_peak = 273.0 / 312,
          .gemm_memory = 1.46 / 2.039,
          .gemm_norm = 3.05,
          .gemm_launch_s = 4.0e-6,
          .occupancy_exponent = 1,
          .k_half = 161,
          .tile_half = 11.6,
          .sustained_slowdown = 1,
          .fp8_over_bf16 = 0.89,
          .grouped_peak = 0.83,
          .grouped_memory = 0.93,
          .attention_peak = 207.0 / 312,
          .half_sequence = 200,
          .backward_factor = 2.5,
          .norm = 0.39,
          .add = 0.83,
          .activation = 0.49,
          .rotary = 0.42,
          .softmax = 0.69,
          .permute = 0.6,
          .other = 0.8,
          .element_launch_s = 4e-6,
          .ring = link(6.9, 0.84, 0.85, 2.4, 6.9),
          .all_to_all = link(10.6, 0.25, 0.79, 3.0, 5.5),
          .send_recv = link(14, 0, 1, 0, 0),
          .all_reduce_base = 1.2,
          .all_reduce_per_rank = 1.8,
          .switch_reduce = {}};
}

Family hopper() {
  return {.gemm_peak = 815.0 / 989.4,
          .gemm_memory = 2.72 / 3.35,
          .gemm_norm = 3.62,
          .gemm_launch_s = 2.7e-6,
          .occupancy_exponent = 1,
          .k_half = 111,
          .tile_half = 1.0,
          .sustained_slowdown = 1.08,
          .fp8_over_bf16 = 0.89,
          .grouped_peak = 975.0 / 989.4,
          .grouped_memory = 3.1 / 3.35,
          .attention_peak = 600.0 / 989.4,
          .half_sequence = 600,
          .backward_factor = 2.9,
          .norm = 0.37,
          .add = 0.9,
          .activation = 0.55,
          .rotary = 0.45,
          .softmax = 0.69,
          .permute = 0.6,
          .other = 0.8,
          .element_launch_s = 3e-6,
          .ring = link(3.8, 0.86, 0.92, 1.7, 3.8),
          .all_to_all = link(11.2, 0.02, 0.76, 4.9, 1.7),
          .send_recv = link(7.6, 0, 361.0 / 450, 0, 0),
          .all_reduce_base = 1.2,
          .all_reduce_per_rank = 1.8,
          .switch_reduce = {8, 86e-6, 0.692, 0.87 * kRootMicro}};
}

Family blackwell() {
  return {.gemm_peak = 1625.0 / 2250,
          .gemm_memory = 5.96 / 8,
          .gemm_norm = 2.23,
          .gemm_launch_s = 2.2e-6,
          .occupancy_exponent = 1,
          .k_half = 0,
          .tile_half = 2.6,
          .sustained_slowdown = 1.08,
          .fp8_over_bf16 = 0.89,
          .grouped_peak = 2285.0 / 2250,
          .grouped_memory = 7.3 / 8,
          .attention_peak = 600.0 / 989.4,
          .half_sequence = 600,
          .backward_factor = 2.9,
          .norm = 0.37,
          .add = 0.9,
          .activation = 0.55,
          .rotary = 0.45,
          .softmax = 0.69,
          .permute = 0.39,
          .other = 0.8,
          .element_launch_s = 3e-6,
          .ring = link(6.3, 1.3, 0.89, 2.0, 4.8),
          .all_to_all = link(13.4, 0.18, 0.77, 0.83, 2.3),
          .send_recv = link(7.6, 0, 361.0 / 450, 0, 0),
          .all_reduce_base = 1.2,
          .all_reduce_per_rank = 1.8,
          .switch_reduce = {8, 115e-6, 0.575, 1.65 * kRootMicro}};
}

// GEMM from MAMF (668 of 1307 TFLOP/s); the rest is Hopper's for want of measurements.
Family cdna() {
  Family family = hopper();
  family.gemm_peak = 0.97 * 668.4 / 1307.4;
  family.grouped_peak = family.gemm_peak;
  family.attention_peak = family.gemm_peak * 0.75;
  family.sustained_slowdown = 1;
  family.switch_reduce = {};
  return family;
}

// PCIe without NVLink: what an L40S reaches (aiconfigurator, 2 and 4 GPUs).
Family ada() {
  Family family = hopper();
  family.gemm_peak = 0.6;
  family.grouped_peak = 0.6;
  family.attention_peak = 0.5;
  family.sustained_slowdown = 1;
  family.switch_reduce = {};
  return family;
}

Family relative_of(std::string_view id) {
  if (id.starts_with("a100") || id.starts_with("v100")) return ampere();
  if (id.starts_with("b") || id.starts_with("gb")) return blackwell();
  if (id.starts_with("mi")) return cdna();
  if (id.starts_with("l40")) return ada();
  return hopper();
}

GemmFit gemm_fit(const Family& family, double peak_share, double memory_share, double peak,
                 double memory_rate) {
  return {.flops_per_s = peak_share * peak,
          .bytes_per_s = memory_share * memory_rate,
          .norm = family.gemm_norm,
          .launch_s = family.gemm_launch_s,
          .occupancy_exponent = family.occupancy_exponent,
          .k_half = family.k_half,
          .tile_half = family.tile_half,
          .sustained_slowdown = family.sustained_slowdown,
          .evidence = Evidence::kDataSheet};
}

}  // namespace

DeviceProfile data_sheet_profile(const Device& device) {
  const Family family = relative_of(device.id);
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
    if (family.sustained_slowdown > 1) fit.sustained_slowdown = 1.1;
    return fit;
  };
  profile.grouped_bf16 = grouped(device.bf16_flops_per_s);
  profile.grouped_fp8 = grouped(has_fp8 ? device.fp8_flops_per_s : device.bf16_flops_per_s);

  // Head size 64 runs at 0.8 of the rate of 128: the softmax costs as much as 43 dims.
  constexpr double kSoftmaxDims = 42.7;
  profile.attention = {
      .flops_per_s = family.attention_peak * device.bf16_flops_per_s * (1 + kSoftmaxDims / kHeadDim),
      .half_sequence = family.half_sequence,
      .softmax_dims = kSoftmaxDims,
      .bytes_per_s = 0.8 * memory_rate,
      .launch_s = 5e-6,
      .backward_factor = family.backward_factor,
      .evidence = Evidence::kDataSheet};

  const auto memory_bound = [&](MemoryBound kind, double share) {
    profile.memory_bound[static_cast<std::size_t>(kind)] = {family.element_launch_s, share * memory_rate,
                                                            Evidence::kDataSheet};
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
  at(Collective::kAllReduce) = family.ring;
  at(Collective::kAllReduce).base_s *= family.all_reduce_base;
  at(Collective::kAllReduce).per_rank_s *= family.all_reduce_per_rank;
  at(Collective::kAllGather) = family.ring;
  at(Collective::kReduceScatter) = family.ring;
  at(Collective::kAllToAll) = family.all_to_all;
  at(Collective::kSendRecv) = family.send_recv;
  profile.switch_reduce = family.switch_reduce;
  profile.sources = {"data sheet of " + device.id};
  return profile;
}

}  // namespace trainfront::costmodel
