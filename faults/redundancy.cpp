#include "faults/redundancy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cluster_state.hpp"
#include "faults/cycle_kernel.hpp"
#include "faults/paper_form.hpp"
#include "faults/refined_time.hpp"
#include "faults/rejoin.hpp"

namespace trainfront::faults {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

double failure_free_s(const Simulation& system) {
  return static_cast<double>(system.steps) * (system.step.fixed_s + system.step.per_stack_s);
}

// Of one unit, that a restart takes in which failures strike.
double restart_mtbfs(const Simulation& setup) {
  return law_in(setup.law, setup.environment).restart_mtbfs;
}

// With the state's copies and bursts, which count once; RECTLR finds the depth of SPARe's stacks.
MonteCarloTrial losses_until_the_end(const Simulation& setup, std::int64_t number) {
  Random random(setup.seed, static_cast<std::uint64_t>(number));
  const bool redraws = setup.placement == Placement::kRandom;
  const std::uint64_t seed = redraws ? std::uint64_t{random.bits()} << 32 | random.bits() : setup.seed;
  ClusterState cluster(setup.units, setup.protection, setup.stacked_replication, setup.state_copies,
                       offsets(setup.units, setup.protection.r, setup.placement, seed), true);
  MonteCarloTrial trial;
  double stacked = 0;
  bool lives = true;
  const FailureLaw& law = setup.law;
  Dwells dwells(restart_mtbfs(setup), law.weibull_shape);
  while (lives) {
    const double dwell =
        dwells.next(1.0 / static_cast<double>(law.rate_falls ? cluster.left() : setup.units), random);
    trial.time += dwell;
    stacked += dwell * cluster.stacks();
    trial.failures += 1;
    const bool several = law.burst_share > 0 && random.uniform() <= law.burst_share;
    for (int left = several ? random.geometric(law.burst_units) : 1; left > 0 && lives; --left)
      lives = cluster.lose(random);
    if (setup.protection.k_max > 0 && cluster.lost() >= setup.protection.k_max) break;
  }
  trial.stacks = trial.time > 0 ? stacked / trial.time : 1;
  return trial;
}

}  // namespace

Simulation simulation_of(const RedundancyStudy& study, const RedundancyRow& row) {
  Simulation setup = study.system;
  setup.protection.r = row.r;
  setup.checkpoint_every = row.checkpoint_every;
  setup.deep_every = row.deep_every;
  if (row.kind == RowKind::kElastic) {
    setup.protection = study.elastic.value_or(Protection{Scheme::kElastic});
    setup.protection.k_max = row.k_max;
    return setup;
  }
  setup.environment.repair_s = 0;
  if (row.kind == RowKind::kSpare) {
    setup.protection.scheme = Scheme::kSpare;
    return setup;
  }
  setup.protection.sub_shards = 1;
  setup.protection.k_max = 0;
  setup.protection.scheme = row.kind == RowKind::kCheckpoint ? Scheme::kCheckpoint : Scheme::kReplication;
  setup.stacked_replication = row.kind == RowKind::kStacked;
  // All groups have all types: what a patch loses another group has computed.
  if (setup.stacked_replication) setup.patch_again = false;
  return setup;
}

namespace {

CycleTable elastic_table(const RedundancyStudy& study) {
  const Simulation& system = study.system;
  return cycle_table(system.units, *study.elastic, law_in(system.law, system.environment),
                     system.state_copies);
}

// Lost units come back: the search's form is the only one.
void fill_rejoining(const RedundancyStudy& study, RedundancyRow& row) {
  const Simulation& system = study.system;
  const CycleTable table = elastic_table(study);
  const StepModel& step = system.step;
  const Environment& environment = system.environment;
  const RunTime run = run_time(table, step, environment, static_cast<double>(system.steps));
  const bool is_known =
      !is_struck_too_often(static_cast<double>(system.units), 1 / environment.group_mtbf_s, step);
  row.failures = kNotANumber;
  row.time_ratio = is_known ? run.time_s / failure_free_s(system) : kNotANumber;
  row.availability = is_known ? run.availability : kNotANumber;
  if (!std::isfinite(row.time_ratio)) return;
  const RejoinTerms terms = rejoin_terms(system.units, table.rejoining_lives, table.law, environment);
  row.stacks = terms.stacks;
  if (!(run.interval_s > 0)) {
    row.checkpoint_every = std::max<std::int64_t>(0, system.checkpoint_every);
    return;
  }
  const double step_s = rejoin_step(terms, step).total_s();
  const double steps = std::max(1.0, std::round((run.interval_s - terms.save_s) / step_s));
  // No longer than the run.
  row.checkpoint_every = steps < static_cast<double>(system.steps) ? static_cast<std::int64_t>(steps) : 0;
  if (row.checkpoint_every > 0) row.checkpoint_interval_s = run.interval_s;
}

}  // namespace

RedundancyRow redundancy_row(const RedundancyStudy& study, const RowOf& of) {
  const std::int64_t n = study.system.units;
  RedundancyRow row;
  row.kind = of.kind;
  row.r = of.r;
  row.failures_paper = of.kind == RowKind::kSpare || of.kind == RowKind::kStacked
                           ? paper::failures_endured(n, of.r)
                           : kNotANumber;
  row.stacks_paper = of.kind == RowKind::kSpare ? paper::mean_stacks(n, of.r) : kNotANumber;
  row.checkpoint_every = study.system.checkpoint_every;
  if (of.kind == RowKind::kSpare) row.k_max = study.system.protection.k_max;
  if (of.kind == RowKind::kElastic) {
    row.k_max = study.elastic->k_max;
    if (study.elastic->rejoins) {
      row.k_max = 0;
      fill_rejoining(study, row);
      return row;
    }
    if (row.k_max < 0)
      row.k_max = run_time(elastic_table(study), study.system.step, study.system.environment,
                           static_cast<double>(study.system.steps))
                      .k_max;
  }
  const RefinedTime refined = refined_time(simulation_of(study, row));
  const PreciseTime& time = refined.time;
  row.deep_every = refined.deep_every;
  row.failures = time.failures;
  row.stacks = time.mean_stacks;
  row.availability = time.availability;
  row.is_rough = time.is_rough;
  row.time_ratio = time.time_s / failure_free_s(study.system);
  row.checkpoint_every = time.checkpoint_every;
  // What makes no progress has no best interval.
  if (std::isfinite(row.time_ratio)) row.checkpoint_interval_s = time.checkpoint_interval_s;
  return row;
}

std::vector<RowOf> rows_of(const RedundancyStudy& study) {
  const std::int64_t n = study.system.units;
  std::vector<RowOf> rows{{RowKind::kCheckpoint, 1}};
  for (int r = study.r_min; r <= study.r_max; ++r) {
    if (r > 1) rows.push_back({RowKind::kStacked, r});
  }
  for (int r = study.r_min; r <= study.r_max; ++r) {
    if (r > 1 && n % r == 0) rows.push_back({RowKind::kFamilies, r});
  }
  for (int r = study.r_min; r <= study.r_max; ++r) rows.push_back({RowKind::kSpare, r});
  // A single unit has nobody to take over.
  if (study.elastic && n > 1) rows.push_back({RowKind::kElastic, 1});
  return rows;
}

std::vector<RedundancyRow> redundancy_rows(const RedundancyStudy& study) {
  std::vector<RedundancyRow> rows;
  for (const RowOf& of : rows_of(study)) rows.push_back(redundancy_row(study, of));
  return rows;
}

std::optional<int> optimal_redundancy(const RedundancyStudy& study, std::span<const RedundancyRow> rows,
                                      std::span<const RedundancySimulated> simulated) {
  if (std::isinf(study.system.environment.group_mtbf_s)) return 0;
  std::optional<int> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RedundancyRow& row = rows[i];
    if (row.kind != RowKind::kCheckpoint && row.kind != RowKind::kSpare) continue;
    if (!row.is_known() && simulated.empty()) return {};
    const double ratio = row.is_known() ? row.time_ratio : simulated[i].time_ratio.value;
    if (ratio < least) {
      least = ratio;
      best = row.r;
    }
  }
  return best;
}

RedundancyTrial redundancy_trial(const RedundancyStudy& study, const RedundancyRow& row,
                                 std::int64_t number) {
  const Simulation setup = simulation_of(study, row);
  MonteCarloTrial cycle;
  const bool rejoins = row.kind == RowKind::kElastic && setup.protection.rejoins;
  const bool sharded = setup.state_copies > 0 && setup.state_copies < setup.units;
  if (row.kind == RowKind::kSpare && row.r > 1 && !sharded && !(setup.law.burst_share > 0)) {
    MonteCarlo loop;
    loop.groups = setup.units;
    loop.r = row.r;
    loop.sub_shards = setup.protection.sub_shards;
    loop.placement = setup.placement;
    loop.rate_falls = setup.law.rate_falls;
    loop.k_max = setup.protection.k_max;
    loop.seed = setup.seed;
    loop.restart = restart_mtbfs(setup);
    loop.weibull_shape = setup.law.weibull_shape;
    cycle = monte_carlo(loop, number, number + 1).front();
  } else if (!rejoins) {
    cycle = losses_until_the_end(setup, number);
  }
  RedundancyTrial trial;
  trial.failures = cycle.failures;
  trial.cycle_time = cycle.time;
  trial.stacks = cycle.stacks;
  Simulation run_setup = setup;
  // Elsewhere RECTLR finds the fair share of stacks, but for a few states of small r.
  run_setup.exact_depth = row.kind == RowKind::kSpare && setup.placement == Placement::kConsecutive;
  const SimulatedRun run = simulate(run_setup, number);
  if (rejoins) {
    trial.failures = kNotANumber;
    trial.cycle_time = run.time_s;
    trial.stacks = run.stack_steps;
  }
  const double without_s = failure_free_s(study.system);
  trial.time_ratio = run.finished ? run.time_s / without_s : std::numeric_limits<double>::infinity();
  trial.down_ratio = (run.restarts_s + run.checkpoints_s) / without_s;
  return trial;
}

RedundancySimulated summarize(std::span<const RedundancyTrial> trials) {
  RedundancySimulated result;
  std::vector<double> failures;
  std::vector<double> ratios;
  double time = 0;
  double stacked = 0;
  double passed = 0;
  double down = 0;
  for (const RedundancyTrial& trial : trials) {
    failures.push_back(trial.failures);
    ratios.push_back(trial.time_ratio);
    time += trial.cycle_time;
    stacked += trial.cycle_time * trial.stacks;
    passed += trial.time_ratio;
    down += trial.down_ratio;
  }
  result.failures = mean_of(failures);
  result.stacks = time > 0 ? stacked / time : kNotANumber;
  result.time_ratio = mean_of(ratios);
  if (!std::isfinite(passed)) {
    result.availability = result.availability_error = kNotANumber;
    return result;
  }
  // Of a quotient of means, to first order.
  const double down_share = down / passed;
  std::vector<double> residues;
  for (const RedundancyTrial& trial : trials)
    residues.push_back((trial.down_ratio - down_share * trial.time_ratio) / result.time_ratio.value);
  result.availability = 1 - down_share;
  result.availability_error = mean_of(residues).standard_error;
  return result;
}

}  // namespace trainfront::faults
