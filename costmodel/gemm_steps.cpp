#include "costmodel/gemm_steps.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/round_up.hpp"

namespace trainfront::costmodel {

GemmTraits gemm_traits(Precision precision, int compute_units, double m, double n, double k) {
  const double outputs = m * n, units = compute_units;
  GemmTraits traits{m,     n,     k,           outputs,
                    n * k, m * k, outputs * k, outputs * k / gemm_bytes(precision, m, n, k)};
  auto next = static_cast<std::size_t>(GemmTrait::kTiles);
  for (const StepTile& tile : kStepTiles) {
    const double blocks = round_up(m / tile.rows) * round_up(n / tile.columns);
    traits[next++] = blocks;
    traits[next++] = round_up(blocks / units) * units * tile.rows * tile.columns / outputs;
  }
  for (const int multiple : kStepMultiples) traits[next++] = round_up(m / multiple) * multiple - m;
  return traits;
}

double step_factor(const GemmSteps& steps, const GemmTraits& traits) {
  int sum = 0;
  for (const GemmTree& tree : steps) sum += tree.log_thousandths[tree.leaf(traits)];
  return std::clamp(std::exp(1e-3 * sum), 1 / kMostStep, kMostStep);
}

}  // namespace trainfront::costmodel
