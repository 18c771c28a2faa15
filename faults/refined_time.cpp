#include "faults/refined_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"
#include "faults/short_run.hpp"

namespace trainfront::faults {
namespace {

bool is_plain(const Simulation& setup) {
  return !(setup.law.burst_share > 0) && !(setup.environment.deep_share > 0);
}

Simulation plain(Simulation setup) {
  setup.law.burst_share = 0;
  setup.law.burst_units = 1;
  setup.environment.deep_share = 0;
  return setup;
}

// By the search's form, over long runs.
RunTime kernel_time(const Simulation& setup, CycleTable& table) {
  const FailureLaw law = law_in(setup.law, setup.environment);
  const std::int64_t copies = setup.state_copies < 0 ? setup.units : setup.state_copies;
  StepModel step = setup.step;
  Environment environment = setup.environment;
  Protection protection = setup.protection;
  if (setup.stacked_replication) {
    // As SPARe lives, at one speed; a patch is one stack.
    protection.scheme = Scheme::kSpare;
    step = {setup.step.fixed_s + protection.r * setup.step.per_stack_s, 0};
    environment.reorder_s += setup.step.per_stack_s;
  }
  const Survival lives = protection_survival(setup.units, protection, copies, setup.placement, setup.seed);
  table = cycle_table(setup.units, protection, law, lives);
  return run_time(table, step, environment, kManySteps);
}

}  // namespace

RefinedTime refined_time(const Simulation& setup) {
  RefinedTime refined;
  PreciseTime& time = refined.time;
  if (is_plain(setup)) {
    time = precise_time(setup);
    return refined;
  }
  const std::optional<Survival> survival = survival_of(setup);
  time = survival ? long_run(plain(setup), *survival).time : precise_time(plain(setup));
  if (!survival) return refined;
  CycleTable table;
  const RunTime without = kernel_time(plain(setup), table);
  const RunTime with = kernel_time(setup, table);
  const bool has_deep = setup.environment.deep_share > 0;
  if (std::isnan(time.time_s) && has_deep) refined.deep_every = 1;
  if (!std::isfinite(time.time_s)) return refined;
  const double failure_rate = 1 / setup.environment.group_mtbf_s;
  if (table.masks && is_struck_too_often(static_cast<double>(setup.units), failure_rate, setup.step)) {
    time.time_s = time.availability = std::numeric_limits<double>::quiet_NaN();
    if (has_deep) refined.deep_every = 1;
    return refined;
  }
  time.time_s *= with.time_s / without.time_s;
  if (!std::isfinite(time.time_s)) {
    time.time_s = std::numeric_limits<double>::infinity();
    return refined;
  }
  time.availability = with.availability;
  time.failures = table.columns.front().failures;
  if (!setup.stacked_replication) time.mean_stacks = table.columns.front().stacks;
  if (with.interval_s > 0) {
    const double step_s = time.checkpoint_every > 0
                              ? time.checkpoint_interval_s / static_cast<double>(time.checkpoint_every)
                              : setup.step.fixed_s + time.mean_stacks * setup.step.per_stack_s;
    const auto steps = [&](double interval_s, double save_s) {
      return std::max<std::int64_t>(1, std::llround((interval_s - save_s) / step_s));
    };
    if (setup.checkpoint_every < 0) {
      time.checkpoint_every = steps(with.interval_s, setup.environment.save_s);
      time.checkpoint_interval_s = with.interval_s;
    }
    if (with.deep_interval_s > 0)
      refined.deep_every = steps(with.deep_interval_s, setup.environment.deep_save_s);
  }
  if (is_short_run(setup, time)) {
    Simulation run = setup;
    run.deep_every = refined.deep_every;
    take_as_short_run(run, *survival, 0, time);
    refined.deep_every = run.deep_every;
  }
  return refined;
}

}  // namespace trainfront::faults
