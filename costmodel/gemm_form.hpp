#pragma once

#include "costmodel/device_profile.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Seconds of one GEMM in a burst by the parametric form alone, and with the table where the profile has one.
// Sizes > 0.
double gemm_form(const GemmFit& fit, Precision precision, int compute_units, double m, double n, double k);
double gemm_burst(const GemmFit& fit, Precision precision, int compute_units, double m, double n, double k);

}  // namespace trainfront::costmodel
