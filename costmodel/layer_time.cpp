#include "costmodel/layer_time.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "costmodel/dispatch_time.hpp"
#include "costmodel/each_block.hpp"
#include "costmodel/segment.hpp"

namespace trainfront::costmodel {
namespace {

// Element-wise kernels, whose time over a fused kernel's depends on the framework. The loss has its own
// passes, and the embedding, copies and permutation are single kernels everywhere.
bool is_element_wise(MemoryBound kind) {
  return kind == MemoryBound::kNorm || kind == MemoryBound::kAdd || kind == MemoryBound::kActivation ||
         kind == MemoryBound::kRotary;
}

class Pricing {
 public:
  Pricing(const GroupPlacements& placements, const Hardware& hardware, const FrameworkProfile& framework)
      : placements_(placements), hardware_(hardware), framework_(framework) {}

  Timed operator()(const Gemm& gemm) const {
    Timed time = gemm_time(hardware_.device, kernel_precision(gemm.precision), gemm.m, gemm.n, gemm.k);
    time.seconds /= speedup(gemm.precision);
    return time;
  }
  Timed operator()(const GroupedGemm& gemm) const {
    Timed time = grouped_gemm_time(hardware_.device, kernel_precision(gemm.precision), gemm.experts,
                                   gemm.tokens, gemm.n, gemm.k);
    time.seconds /= speedup(gemm.precision);
    return time;
  }
  Timed operator()(const Attention& attention) const {
    const bool own_factor = attention.backward && framework_.attention_backward_factor > 0;
    const auto kernel = [&](const AttentionShape& shape) {
      return attention.backward && !own_factor ? attention_backward_time(hardware_.device, shape)
                                               : attention_forward_time(hardware_.device, shape);
    };
    Timed time = kernel(attention.shape);
    if (attention.undivided.batch > 0) {
      time.seconds = std::max(time.seconds, kernel(attention.undivided).seconds);
    }
    time.seconds *= framework_.attention_scale * (own_factor ? framework_.attention_backward_factor : 1);
    // Kernels written for one generation gain nothing from the next one's instructions.
    const double rate = hardware_.device.profile.attention.flops_per_s;
    if (framework_.attention_limit > 0) time.seconds *= std::max(1.0, rate / framework_.attention_limit);
    return time;
  }
  Timed operator()(const MemoryTraffic& traffic) const {
    Timed time = memory_bound_time(hardware_.device, traffic.kind, traffic.bytes);
    if (is_element_wise(traffic.kind)) time.seconds *= framework_.memory_bound_scale;
    return time;
  }
  Timed operator()(const Communication& communication) const {
    Placement placement = placements_[communication.group];
    if (communication.collective == Collective::kSendRecv) {
      placement = {2, placement.domains > 1 ? 2 : 1, placement.domains > 1 ? 1 : 2};
    }
    Timed time = collective_time(hardware_, communication.collective, communication.bytes, placement);
    if (communication.group == Group::kTensor || communication.group == Group::kExpertTensor) {
      time.seconds *= framework_.tensor_parallel_exposed;
    } else if (communication.group == Group::kExpert) {
      time.seconds *= framework_.expert_parallel_exposed;
    }
    return time;
  }
  Timed operator()(const Dispatch& dispatch) const {
    Timed time = dispatch_time(hardware_, dispatch, placements_[Group::kExpert]);
    time.seconds *= framework_.expert_parallel_exposed;
    return time;
  }

 private:
  // With a known fp8 speed-up of the framework, the kernels are the bf16 ones.
  Precision kernel_precision(Precision precision) const {
    return framework_.fp8_speedup > 0 ? Precision::kBf16 : precision;
  }
  double speedup(Precision precision) const {
    return precision == Precision::kFp8 && framework_.fp8_speedup > 0 ? framework_.fp8_speedup : 1;
  }

  const GroupPlacements& placements_;
  const Hardware& hardware_;
  const FrameworkProfile& framework_;
};

Part part_of(const Operation& operation) {
  if (operation.of_attention) return Part::kAttention;
  if (std::holds_alternative<Dispatch>(operation.work)) return Part::kExpertParallel;
  if (const auto* communication = std::get_if<Communication>(&operation.work)) {
    switch (communication->group) {
      case Group::kTensor:
        return Part::kTensorParallel;
      case Group::kContext:
      case Group::kContextHeads:
        return Part::kContextParallel;
      case Group::kExpert:
      case Group::kExpertTensor:
        return Part::kExpertParallel;
    }
  }
  if (std::holds_alternative<Attention>(operation.work)) return Part::kAttention;
  if (std::holds_alternative<MemoryTraffic>(operation.work)) return Part::kMemoryBound;
  return Part::kGemm;
}

// Time that the host adds to `device_s`: (device^q + host^q)^(1/q) - device; q = 0 stands for infinity.
double host_extra(double device_s, double host_s, double norm) {
  if (host_s <= 0) return 0;
  if (norm <= 0) return std::max(0.0, host_s - device_s);
  const double high = std::max(device_s, host_s);
  const double low = std::min(device_s, host_s);
  return high * std::pow(1 + std::pow(low / high, norm), 1 / norm) - device_s;
}

struct HostFloor {
  double seconds = 0;
  double norm = 0;
};

// Floor of a framework whose host time grows with the tensor degree; 0 for others.
HostFloor tensor_floor(const Layout& layout, int gpus_per_node, const FrameworkProfile& framework) {
  const bool pipelined = layout.pp > 1 && layout.gpus() > gpus_per_node;
  const HostByTensorDegree& table = pipelined ? framework.host_pipelined_s : framework.host_by_tensor_s;
  std::size_t i = 0;
  while (i + 1 < table.size() && (1 << i) < layout.tp) ++i;
  return {table[i], pipelined ? framework.host_norm : framework.host_by_tensor_norm};
}

// Of one MoE layer and micro-batch, forward and backward.
double moe_floor(const Device& device, const FrameworkProfile& framework) {
  const bool grace = framework.host_moe_layer_grace_s > 0 && has_grace_host(device);
  return grace ? framework.host_moe_layer_grace_s : framework.host_moe_layer_s;
}

}  // namespace

double PartTimes::total() const {
  double sum = 0;
  for (const double part : seconds) sum += part;
  return sum;
}

void PartTimes::add(const PartTimes& other, double times) {
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += times * other.seconds[i];
}

void BlockTime::add(const BlockTime& other, double times) {
  for (std::size_t i = 0; i < pass.size(); ++i) pass[i].add(other.pass[i], times);
  if (times > 0) evidence = worst(evidence, other.evidence);
}

GroupPlacements place_groups(const Layout& layout, int domain_gpus) {
  const int segment = segment_gpus(layout, domain_gpus);
  GroupPlacements placements;
  placements.by_group[static_cast<std::size_t>(Group::kTensor)] = place_group(1, layout.tp, segment);
  placements.by_group[static_cast<std::size_t>(Group::kContext)] = place_group(layout.tp, layout.cp, segment);
  placements.by_group[static_cast<std::size_t>(Group::kContextHeads)] =
      place_group(layout.tp, layout.head_ranks(), segment);
  placements.by_group[static_cast<std::size_t>(Group::kExpert)] = place_group(layout.etp, layout.ep, segment);
  placements.by_group[static_cast<std::size_t>(Group::kExpertTensor)] = place_group(1, layout.etp, segment);
  return placements;
}

BlockTime price_operations(const Operations& operations, const GroupPlacements& placements,
                           const Hardware& hardware, const FrameworkProfile& framework) {
  const Pricing price(placements, hardware, framework);
  BlockTime result;
  std::array<double, kPasses> beside_attention{};
  double covering = 0;
  for (const Operation& operation : operations) {
    const Timed time = std::visit(price, operation.work);
    result.evidence = worst(result.evidence, time.evidence);
    const double seconds = operation.count * time.seconds;
    const auto* communication = std::get_if<Communication>(&operation.work);
    if (communication && communication->beside_attention) {
      beside_attention[static_cast<std::size_t>(operation.pass)] += seconds;
      // A ring of n hops has n + 1 steps of attention, and each hop runs beside one.
      covering = operation.count / (operation.count + 1);
    } else {
      result[operation.pass][part_of(operation)] += seconds;
    }
  }
  for (std::size_t i = 0; i < beside_attention.size(); ++i) {
    PartTimes& parts = result.pass[i];
    parts[Part::kContextParallel] += std::max(0.0, beside_attention[i] - covering * parts[Part::kAttention]);
  }
  return result;
}

void add_recomputation(BlockTime& time, Recompute recompute, const FrameworkProfile& framework) {
  const PartTimes& forward = time[Pass::kForward];
  PartTimes& backward = time[Pass::kInputGradient];
  if (recompute == Recompute::kFull) backward.add(forward);
  if (recompute != Recompute::kSelective) return;
  backward[Part::kGemm] += framework.selective_gemm * forward[Part::kGemm];
  backward[Part::kAttention] += framework.selective_attention * forward[Part::kAttention];
  backward[Part::kMemoryBound] += framework.selective_memory_bound * forward[Part::kMemoryBound];
  backward[Part::kTensorParallel] += framework.selective_tensor_parallel * forward[Part::kTensorParallel];
  backward[Part::kContextParallel] += framework.selective_context_parallel * forward[Part::kContextParallel];
}

void add_recomputation(BlockTime& time, const BlockTime& modules) {
  time[Pass::kInputGradient].add(modules[Pass::kForward]);
  time.evidence = worst(time.evidence, modules.evidence);
}

void add_host_floor(BlockTime& time, Block block, const Layout& layout, const Hardware& hardware,
                    const FrameworkProfile& framework) {
  const bool experts_again = block == Block::kMoe && layout.modules.has(RecomputeModule::kMoe);
  const double again = layout.recompute == Recompute::kFull || experts_again ? 1 : 0;
  PartTimes& forward = time[Pass::kForward];
  PartTimes& input = time[Pass::kInputGradient];
  PartTimes& weight = time[Pass::kWeightGradient];
  const double moe_s = moe_floor(hardware.device, framework);
  if (block == Block::kMoe && moe_s > 0) {
    const double device_s = forward.total() + input.total() + weight.total();
    const double extra = host_extra(device_s, moe_s * (1 + again / 3), framework.host_moe_norm);
    forward[Part::kHost] += extra / 3;
    input[Part::kHost] += extra / 3;
    weight[Part::kHost] += extra / 3;
    return;
  }
  const double floor_s = framework.host_forward_s + framework.host_backward_s;
  const HostFloor by_tensor = tensor_floor(layout, hardware.gpus_per_node, framework);
  const bool tensor_binds = floor_s > 0 && by_tensor.seconds > floor_s;
  const double scale = tensor_binds ? by_tensor.seconds / floor_s : 1;
  const double norm = tensor_binds ? by_tensor.norm : framework.host_norm;
  forward[Part::kHost] += host_extra(forward.total(), scale * framework.host_forward_s, norm);
  const double host_s = scale * (framework.host_backward_s + again * framework.host_forward_s);
  const double extra = host_extra(input.total() + weight.total(), host_s, norm);
  input[Part::kHost] += extra / 2;
  weight[Part::kHost] += extra / 2;
}

BlockTimes block_times(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework) {
  const GroupPlacements placements = place_groups(layout, hardware.domain_gpus);
  const auto price = [&](const Operations& operations) {
    return price_operations(operations, placements, hardware, framework);
  };
  BlockTimes times = each_block(model, recipe, layout, framework, price, [&](BlockTime& time, Block block) {
    add_host_floor(time, block, layout, hardware, framework);
  });
  times.micro_batch[Pass::kForward][Part::kHost] = framework.host_micro_batch_s / 2;
  times.micro_batch[Pass::kInputGradient][Part::kHost] = framework.host_micro_batch_s / 2;
  return times;
}

}  // namespace trainfront::costmodel
