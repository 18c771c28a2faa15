#include <fmt/core.h>

#include <cmath>

#include "engine/commands/profile_fit.hpp"

namespace trainfront::engine {

costmodel::DeviceProfile profile_of_relative(const costmodel::Device& from, const costmodel::Device& to) {
  costmodel::DeviceProfile profile = from.profile;
  const double memory = to.memory_bytes_per_s / from.memory_bytes_per_s;
  const double peak = to.bf16_flops_per_s / from.bf16_flops_per_s;
  const auto inherit = [](costmodel::Evidence& evidence) {
    evidence = costmodel::worst(evidence, costmodel::Evidence::kInterpolated);
  };
  for (costmodel::GemmFit* fit : {&profile.bf16, &profile.fp8, &profile.grouped_bf16, &profile.grouped_fp8}) {
    fit->flops_per_s *= peak;
    fit->bytes_per_s *= memory;
    fit->table = {};
    fit->steps = {};
    fit->form_share = 0;
    inherit(fit->evidence);
  }
  // Sustained, clock and voltage fall together: a device of the same chip with less power keeps about the
  // square root of what it lacks.
  if (from.power_w > to.power_w && to.power_w > 0) {
    for (costmodel::GemmFit* fit :
         {&profile.bf16, &profile.fp8, &profile.grouped_bf16, &profile.grouped_fp8}) {
      fit->sustained_slowdown *= std::sqrt(from.power_w / to.power_w);
      fit->evidence = costmodel::worst(fit->evidence, costmodel::Evidence::kExtrapolated);
    }
  }
  profile.attention.flops_per_s *= peak;
  profile.attention.bytes_per_s *= memory;
  profile.attention.cache_bytes_per_s *= memory;
  if (peak != 1) profile.attention.table = {};
  inherit(profile.attention.evidence);
  for (costmodel::MemoryBoundFit& fit : profile.memory_bound) {
    fit.bytes_per_s *= memory;
    fit.table = {};
    inherit(fit.evidence);
  }
  // Shares of the link's rate carry over; tables of times only where the link is the same.
  for (costmodel::LinkFit& fit : profile.link) {
    if (to.link_bytes_per_s != from.link_bytes_per_s) fit.table = {};
    inherit(fit.evidence);
  }
  profile.network.of_collective = {};  // measured with another device on it
  profile.sources.insert(profile.sources.begin(),
                         fmt::format("scaled by data sheet from {}:", from.profile.name));
  return profile;
}

}  // namespace trainfront::engine
