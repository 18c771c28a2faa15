#include "costmodel/framework_profile.hpp"

#include <vector>

#include "costmodel/profile_parts.hpp"

namespace trainfront::costmodel {
namespace {

std::vector<FrameworkProfile> all_profiles() {
  std::vector<FrameworkProfile> profiles;
  for (const auto of_framework : {&megatron_profiles, &torchtitan_profiles, &deepspeed_profiles}) {
    for (const FrameworkProfile& profile : of_framework()) profiles.push_back(profile);
  }
  return profiles;
}

const std::vector<FrameworkProfile>& table() {
  static const std::vector<FrameworkProfile> profiles = all_profiles();
  return profiles;
}

}  // namespace

bool transfers_overlap(const Layout& layout, const FrameworkProfile& profile) {
  if (layout.vpp > 1) return profile.transfer_overlaps;
  return layout.schedule == Schedule::kGpipe && profile.gpipe_transfer_overlaps;
}

FrameworkProfile without_host_floor(FrameworkProfile profile) {
  profile.host_forward_s = profile.host_backward_s = profile.host_moe_layer_s = 0;
  profile.host_moe_layer_grace_s = 0;
  profile.host_micro_batch_s = 0;
  profile.host_by_tensor_s = profile.host_pipelined_s = {};
  return profile;
}

ContextExchange default_exchange(const FrameworkProfile& profile, const Model& model) {
  const bool rings = profile.context_exchange == ContextExchange::kRing;
  const bool megatron = profile.framework == Framework::kMegatron;
  return rings && megatron && model.sliding_window > 0 ? ContextExchange::kAllGather
                                                       : profile.context_exchange;
}

std::span<const FrameworkProfile> framework_profiles() {
  return table();
}

const FrameworkProfile* find_profile(std::string_view name) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

// The first of a framework.
const FrameworkProfile& default_profile(Framework framework) {
  for (const FrameworkProfile& profile : table()) {
    if (profile.framework == framework) return profile;
  }
  return table().front();
}

}  // namespace trainfront::costmodel
