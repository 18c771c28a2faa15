#include "search/layout_domain.hpp"

#include <algorithm>
#include <cstdint>

#include "costmodel/framework_profile.hpp"
#include "costmodel/legality.hpp"

namespace trainfront::search {
namespace {

constexpr int kTokensPerContextRank = 1024;       // attention over fewer is launch-bound
constexpr int kTokensPerMicroBatch = 128 * 1024;  // more gains no efficiency and costs activations
constexpr int kMostStages = 128;
constexpr int kMostShards = 1024;

bool is_power_of_two(int value) {
  return (value & (value - 1)) == 0;
}

std::vector<int> powers_of_two(std::int64_t most) {
  std::vector<int> powers = {1};
  while (std::int64_t{powers.back()} * 2 <= most) powers.push_back(powers.back() * 2);
  return powers;
}

template <class Wanted>
std::vector<int> those_up_to(std::int64_t most, Wanted wanted) {
  std::vector<int> values = {1};
  for (int value = 2; value <= most; ++value)
    if (wanted(value)) values.push_back(value);
  return values;
}

std::int64_t most_gpus(const Problem& problem) {
  return problem.gpus.empty() ? 1 : problem.gpus.back();
}

}  // namespace

std::vector<int> LayoutDomain::tp() const {
  const std::int64_t together = std::max(hardware.domain_gpus, hardware.gpus_per_node);
  return those_up_to(std::min<std::int64_t>({together, most_gpus(problem), problem.model.heads}),
                     [&](int value) { return problem.model.heads % value == 0; });
}

std::vector<int> LayoutDomain::cp() const {
  return powers_of_two(
      std::min<std::int64_t>(problem.recipe.sequence_length / kTokensPerContextRank, most_gpus(problem)));
}

std::vector<int> LayoutDomain::pp() const {
  const int layers = problem.model.layers;
  return those_up_to(std::min<std::int64_t>({layers, kMostStages, most_gpus(problem)}), [&](int value) {
    return is_power_of_two(value) || layers % value == 0 || (layers + 2) % value == 0;
  });
}

std::vector<int> LayoutDomain::vpp(int stages) const {
  if (stages == 1) return {1};
  const int layers = (problem.model.layers + stages - 1) / stages;
  return those_up_to(layers, [&](int value) { return is_power_of_two(value) || layers % value == 0; });
}

std::vector<int> LayoutDomain::ep() const {
  if (!problem.model.is_moe()) return {1};
  return those_up_to(std::min<std::int64_t>(problem.model.experts, most_gpus(problem)),
                     [&](int value) { return problem.model.experts % value == 0; });
}

std::vector<int> LayoutDomain::etp(int tensor_parallel) const {
  if (!problem.model.is_moe()) return {1};
  return those_up_to(tensor_parallel, [&](int value) { return tensor_parallel % value == 0; });
}

std::vector<int> LayoutDomain::zero() const {
  return {0, 1, 2, 3};
}

std::vector<int> LayoutDomain::shard_group() const {
  std::vector<int> groups = {0};
  const std::int64_t most = std::min<std::int64_t>(kMostShards, most_gpus(problem));
  for (std::int64_t ranks = std::max(2, hardware.domain_gpus); ranks <= most; ranks *= 8)
    groups.push_back(static_cast<int>(ranks));
  return groups;
}

std::vector<int> LayoutDomain::micro_batch() const {
  const std::int64_t batch = problem.global_batches.empty() ? 1 : problem.global_batches.back();
  return powers_of_two(
      std::min<std::int64_t>(batch, kTokensPerMicroBatch / std::max(1, problem.recipe.sequence_length)));
}

std::vector<costmodel::Schedule> LayoutDomain::schedule() const {
  using enum costmodel::Schedule;
  return {kGpipe, k1f1b, kInterleaved, kZeroBubble};
}

std::vector<costmodel::Recompute> LayoutDomain::recompute() const {
  using enum costmodel::Recompute;
  return {kNone, kSelective, kFull};
}

std::vector<costmodel::ContextExchange> LayoutDomain::cp_type(costmodel::Framework framework) const {
  using enum costmodel::ContextExchange;
  const auto& chosen = problem.layout.cp_type;
  if (!chosen) return {default_exchange(costmodel::default_profile(framework), problem.model)};
  if (!chosen->empty()) return *chosen;
  std::vector<costmodel::ContextExchange> offered = {kRing, kAllGather, kAllToAll, kAllToAllRing};
  std::erase_if(offered, [&](auto type) { return !costmodel::offers_exchange(framework, type); });
  return offered;
}

std::vector<costmodel::RecomputeModules> LayoutDomain::recompute_modules(
    costmodel::Framework framework) const {
  const auto& chosen = problem.layout.recompute_modules;
  if (!chosen || framework != costmodel::Framework::kMegatron) return {{}};
  return chosen->empty() ? costmodel::plain_sets(problem.model) : *chosen;
}

}  // namespace trainfront::search
