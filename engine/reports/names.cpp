#include "engine/reports/names.hpp"

#include <array>
#include <cstddef>

namespace trainfront::engine {
namespace {

template <std::size_t N, typename Enum>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

}  // namespace

std::string_view name(costmodel::Framework framework) {
  static constexpr std::array<std::string_view, 3> kNames = {"megatron", "torchtitan", "deepspeed"};
  return pick(kNames, framework);
}

std::string_view name(costmodel::Recompute recompute) {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "selective", "full"};
  return pick(kNames, recompute);
}

std::string_view name(costmodel::Schedule schedule) {
  static constexpr std::array<std::string_view, 4> kNames = {"gpipe", "1f1b", "interleaved", "zero_bubble"};
  return pick(kNames, schedule);
}

std::string_view name(costmodel::ContextExchange type) {
  static constexpr std::array<std::string_view, 4> kNames = {"ring", "all_gather", "all_to_all",
                                                             "all_to_all_ring"};
  return pick(kNames, type);
}

std::string_view cp_type_name(const costmodel::Layout& layout) {
  return layout.cp > 1 ? name(layout.cp_type) : "none";
}

std::string modules_name(const costmodel::Layout& layout) {
  const bool chosen = layout.framework == costmodel::Framework::kMegatron &&
                      layout.recompute == costmodel::Recompute::kSelective;
  return chosen ? costmodel::modules_name(layout.modules) : "none";
}

std::string_view name(costmodel::Precision precision) {
  static constexpr std::array<std::string_view, 2> kNames = {"bf16", "fp8"};
  return pick(kNames, precision);
}

std::string_view name(costmodel::Optimizer optimizer) {
  static constexpr std::array<std::string_view, 2> kNames = {"adam", "sgd"};
  return pick(kNames, optimizer);
}

std::string_view name(costmodel::Evidence evidence) {
  static constexpr std::array<std::string_view, 4> kNames = {"calibrated", "interpolated", "extrapolated",
                                                             "data_sheet"};
  return pick(kNames, evidence);
}

std::string_view name(faults::Scheme scheme) {
  static constexpr std::array<std::string_view, 6> kNames = {"none",        "checkpoint", "spares",
                                                             "replication", "spare",      "elastic"};
  return pick(kNames, scheme);
}

std::string_view name(faults::CheckpointTier tier) {
  static constexpr std::array<std::string_view, 3> kNames = {"shared", "local", "peer"};
  return pick(kNames, tier);
}

}  // namespace trainfront::engine
