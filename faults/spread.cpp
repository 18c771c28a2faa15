#include "faults/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/incomplete_gamma.hpp"

namespace trainfront::faults {
namespace {

// Failures before the first run without one are geometric; each takes a time that the run's length cuts off.
TimeSpread from_scratch(double rate, double restart_s, double length_s, double mean_s) {
  TimeSpread spread;
  spread.mean_s = mean_s;
  spread.least_s = length_s;
  const double clean = std::exp(-rate * length_s);
  const double failures = (1 - clean) / clean;
  const double cut = clean / (1 - clean);
  const double mean_try_s = 1 / rate - length_s * cut;
  const double variance = std::max(0.0, 1 / (rate * rate) - length_s * length_s * cut / (1 - clean));
  const double per_failure_s = mean_try_s + restart_s;
  spread.deviation_s = std::sqrt(failures * variance + failures / clean * per_failure_s * per_failure_s);
  spread.cycles = failures + 1;
  return spread;
}

}  // namespace

TimeSpread time_spread(const CycleTable& table, const StepModel& step, const Environment& environment,
                       double steps) {
  TimeSpread spread;
  const RunTime run = run_time(table, step, environment, steps);
  spread.mean_s = run.time_s;
  spread.least_s = run.time_s;
  const EnvironmentTerms terms = environment_terms(environment);
  if (!std::isfinite(run.time_s) || !(terms.failure_rate > 0)) return spread;
  if (table.starts_over) {
    return from_scratch(static_cast<double>(table.units) * terms.failure_rate, terms.restart_s,
                        steps * (step.fixed_s + step.per_stack_s), run.time_s);
  }
  for (const CycleColumn& column : table.columns) {
    if (column.k_max != run.k_max) continue;
    const CycleSums sums = cycle_sums(table, column, step);
    const CycleRate rate = cycle_rate(sums, terms);
    const double mtbf_s = environment.group_mtbf_s;
    const double up_s = sums.dwell * mtbf_s;
    const double gross = sums.work_rate * mtbf_s - (sums.patch_steps + sums.stop_steps * terms.masked_s);
    const double kept = gross * rate.efficiency;
    const double cycle_s = rate.cycle * mtbf_s + sums.last_patch_s;
    const double rho = cycle_s / kept;  // mean time of a step that stays
    const double saving = run.interval_s > 0 ? terms.save_s / run.interval_s : 0;
    // C - rho S = down + sum over classes of u_c Y_c + rho lost, Y_c the time at c stacks, u_c = 1 - rho
    // speed. A state is reached through all of those before it.
    const double work_s = (1 - saving) * gross / (sums.work_rate * mtbf_s);
    double mean = 0;
    double squares = 0;
    double before = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
      const double u = 1 - rho * work_s / (step.fixed_s + column.class_stacks[i] * step.per_stack_s);
      mean += u * column.class_dwell[i];
      squares += u * u * column.class_squares[i] + 2 * u * column.class_dwell[i] * before;
      before += u * column.class_passage[i];
    }
    const double up_variance = std::max(0.0, squares - mean * mean) * mtbf_s * mtbf_s;
    const double interval_steps = run.interval_s > 0 ? (run.interval_s - terms.save_s) * gross / up_s : 0;
    const double end_differs = terms.restart_s + rho * interval_steps / 2 - terms.voluntary_s;
    const double variance = up_variance + column.losing * rho * rho * interval_steps * interval_steps / 12 +
                            column.losing * (1 - column.losing) * end_differs * end_differs;
    spread.cycles = steps / kept;
    spread.deviation_s = std::sqrt(spread.cycles * variance);
    spread.least_s = std::min(run.time_s, steps * sums.step_s / (1 - saving));
  }
  return spread;
}

double quantile_s(const TimeSpread& spread, double probability) {
  const double excess = spread.mean_s - spread.least_s;
  if (!std::isfinite(spread.mean_s) || !(excess > 0) || !(spread.deviation_s > 0)) return spread.mean_s;
  const double variance = spread.deviation_s * spread.deviation_s;
  double low = 0;
  double high = excess + 2 * spread.deviation_s;
  while (gamma_survival(excess, variance, high) > 1 - probability) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (gamma_survival(excess, variance, middle) > 1 - probability ? low : high) = middle;
  }
  return spread.least_s + high;
}

}  // namespace trainfront::faults
