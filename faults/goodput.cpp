#include "faults/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/cycle_shares.hpp"
#include "faults/late_kernel.hpp"
#include "faults/rejoin.hpp"

namespace trainfront::faults {

LossTree loss_tree(const CycleTable& table, const StepModel& step, const Environment& environment,
                   double steps, const std::optional<Chance>& chance) {
  LossTree tree;
  const RunTime run = run_time(table, step, environment, steps, chance);
  const double mean_s = run.spread.mean_s;
  if (!std::isfinite(run.time_s)) {
    tree.lost_work_s = std::numeric_limits<double>::infinity();
    return tree;
  }
  tree.useful_s = steps * (step.fixed_s + step.per_stack_s);
  const EnvironmentTerms terms = environment_terms(environment);
  if (table.starts_over) {
    const double failures = std::expm1(static_cast<double>(table.units) * terms.failure_rate * tree.useful_s);
    tree.restarts_s = failures * terms.restart_s;
    tree.lost_work_s = mean_s - tree.useful_s - tree.restarts_s;
    return tree;
  }
  if (table.rejoins) {
    const RejoinTerms away = rejoin_terms(table.units, table.rejoining_lives, table.law, environment);
    const RejoinStep mean = rejoin_step(away, step);
    const RejoinShares shares = rejoin_shares(away, step);
    tree.redundancy_s = steps * mean.step_s - tree.useful_s;
    tree.patches_s = steps * mean.again_s;
    tree.checkpoints_s = mean_s * shares.checkpoints;
    tree.restarts_s = mean_s * (shares.restarts + shares.pauses);
    tree.lost_work_s =
        mean_s - tree.useful_s - tree.redundancy_s - tree.patches_s - tree.checkpoints_s - tree.restarts_s;
    return tree;
  }
  for (const CycleColumn& column : table.columns) {
    if (column.k_max != run.k_max) continue;
    const CycleSums sums = cycle_sums(table, column, step, terms.masked_s);
    if (!(terms.failure_rate > 0)) {
      tree.redundancy_s = mean_s - tree.useful_s;
      return tree;
    }
    const CycleRate rate = cycle_rate(sums, terms);
    const LateSums late = late_sums(column, sums, step);
    const RunParts parts = run_parts(sums, late, column.late, rate, steps);
    const CycleShares shares = cycle_shares(column, sums, rate, terms);
    // Of the time at work in the mean over long runs what neither saves nor lost work take.
    const double kept_s = steps * late.mean_step_s;
    const double long_s = time_to_train(sums, rate, steps);
    const double patches_s = long_s - parts.restarts_s - parts.saving_s - kept_s;
    const double stacks = 1 - parts.spared.stacks;
    const double often = 1 - parts.spared.saves;
    tree.redundancy_s = kept_s * stacks - tree.useful_s;
    tree.patches_s = patches_s * stacks;
    const double saves_s = interval_saves_s(column, sums, shares, steps);
    const double last_saves_s = parts.cycles * sums.leaving * terms.save_s;
    tree.checkpoints_s = saves_s * often + last_saves_s * (1 - parts.spared.ends);
    tree.lost_work_s = (parts.saving_s - saves_s) * often;
    tree.restarts_s =
        mean_s - tree.useful_s - tree.redundancy_s - tree.patches_s - tree.checkpoints_s - tree.lost_work_s;
    return tree;
  }
  return tree;
}

}  // namespace trainfront::faults
