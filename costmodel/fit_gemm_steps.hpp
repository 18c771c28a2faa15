#pragma once

#include <span>

#include "costmodel/gemm_steps.hpp"

namespace trainfront::costmodel {

struct StepSample {
  GemmTraits traits{};
  double log_factor = 0;  // measured over what the table says
  double weight = 1;
};

// Trees for the factors, by gradient boosting (Friedman, Annals of Statistics 29, 2001): each is fitted to
// what those before it leave over, and adds a share of that. Errors above 0.08 count as 0.08. Nothing is
// drawn at random.
GemmSteps fit_gemm_steps(std::span<const StepSample> samples);

}  // namespace trainfront::costmodel
