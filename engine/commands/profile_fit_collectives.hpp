#pragma once

#include <vector>

#include "costmodel/device_profile.hpp"
#include "costmodel/fit_samples.hpp"
#include "engine/commands/profile_fit.hpp"

namespace trainfront::engine {

// The collectives' part of fit_profile: within a domain, and across domains. `sheet` is the data sheet's
// profile.
void fit_collectives(const costmodel::Samples& samples, const costmodel::DeviceProfile& sheet,
                     const FitChoices& choices, ProfileFit& result);

}  // namespace trainfront::engine
