#include "costmodel/recompute_modules.hpp"

#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {
namespace {

using enum RecomputeModule;

constexpr std::array<std::string_view, kRecomputeModules> kNames = {
    "core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp", "moe", "shared_experts"};

constexpr RecomputeModules kDefault{1U << static_cast<unsigned>(kCoreAttention)};

}  // namespace

RecomputeModules effective_modules(const Model& model) {
  RecomputeModules modules = kDefault;
  if (model.is_moe()) {
    modules.add(kMoeActivation);
    modules.add(kMoe);
    if (model.shared_expert_ffn > 0) modules.add(kSharedExperts);
  }
  if (model.is_moe() || model.latent) modules.add(kLayernorm);
  if (model.latent) modules.add(kLatentUpProjection);
  if (moe_layers(model) < model.layers) modules.add(kMlp);
  return modules;
}

bool is_plain(RecomputeModules modules, const Model& model) {
  if ((modules.bits & ~effective_modules(model).bits) != 0) return false;
  return !modules.has(kMoe) || !(modules.has(kMoeActivation) || modules.has(kSharedExperts));
}

std::vector<RecomputeModules> plain_sets(const Model& model) {
  std::vector<RecomputeModules> sets;
  for (unsigned bits = 0; bits < 1U << kRecomputeModules; ++bits) {
    const RecomputeModules modules{static_cast<std::uint8_t>(bits)};
    if (!modules.has(kCoreAttention) && is_plain(modules, model)) sets.push_back(modules);
  }
  return sets;
}

std::string_view module_name(RecomputeModule module) {
  return kNames[static_cast<std::size_t>(module)];
}

std::string modules_name(RecomputeModules modules) {
  if (modules.empty()) modules = kDefault;
  std::string name;
  for (int i = 0; i < kRecomputeModules; ++i) {
    const auto module = static_cast<RecomputeModule>(i);
    if (modules.has(module)) name.append(name.empty() ? "" : "+").append(module_name(module));
  }
  return name;
}

bool read_modules(std::string_view text, RecomputeModules& modules) {
  modules = {};
  while (true) {
    const std::string_view word = text.substr(0, text.find('+'));
    int found = 0;
    while (found < kRecomputeModules && kNames[static_cast<std::size_t>(found)] != word) ++found;
    if (found == kRecomputeModules) return false;
    modules.add(static_cast<RecomputeModule>(found));
    if (word.size() == text.size()) break;
    text.remove_prefix(word.size() + 1);
  }
  if (modules == kDefault) modules = {};
  return true;
}

}  // namespace trainfront::costmodel
