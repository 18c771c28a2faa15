#include "faults/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/cycle_shares.hpp"
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
    // Per cycle, in steps: done, not lost to patches, kept. A step takes step_s in the mean.
    const double mtbf_s = environment.group_mtbf_s;
    const Patching patches = patching(sums, terms.failure_rate);
    const double left = 1 + terms.failure_rate * sums.left_share;
    const double done = sums.work_rate * left * mtbf_s;
    const double unpatched = unpatched_steps(sums, terms.failure_rate, patches) * mtbf_s;
    const CycleShares shares = cycle_shares(column, sums, rate, terms);
    const double step_s = (sums.dwell - column.restart_dwell) / sums.work_rate;
    const double half_step_s = sums.left_share * sums.work_rate * step_s;
    const double last_patches_s = sums.last_patch_s - half_step_s + sums.last_again_s * patches.more;
    const double cycles = steps / (unpatched * shares.kept);
    tree.redundancy_s = steps * step_s - tree.useful_s;
    tree.patches_s = cycles * ((done - unpatched) * step_s + last_patches_s);
    tree.checkpoints_s = cycles * (unpatched * shares.saving * step_s + sums.leaving * terms.save_s);
    tree.lost_work_s = cycles * unpatched * (1 - shares.kept - shares.saving) * step_s;
    tree.restarts_s =
        mean_s - tree.useful_s - tree.redundancy_s - tree.patches_s - tree.checkpoints_s - tree.lost_work_s;
    return tree;
  }
  return tree;
}

}  // namespace trainfront::faults
