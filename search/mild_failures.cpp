#include "search/mild_failures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults/cycle_kernel.hpp"

namespace trainfront::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNotKnown = -1;
constexpr double kMostSlowdown = 0.98 * faults::kMostSlowdown;

// What checkpoints at whole steps cost at most where n_c is near 0: faults::whole_steps.
double longer(double x) {
  return 1 + x * (1 + x * (2.0 / 3 + x * (1.0 / 3)));
}

}  // namespace

MildFailures::MildFailures(const BlockSetup& setup, const faults::FailingUnit& unit, const Tables& tables)
    : setup_{setup},
      unit_{unit},
      tables_{tables},
      units_{static_cast<double>(unit.units)},
      most_stacks_{setup.problem.failures.law.rate_falls ? 2 * (std::log(units_) + 1) : 4} {}

double MildFailures::most_step_s(const NodeFailures& node, int number) const {
  constexpr double kRounding = 1 - 1e-9;
  return std::min(most_progressing_step_s(node, number), kRounding * struck_from_s(node));
}

double MildFailures::struck_from_s(const NodeFailures& node) const {
  const double failures = units_ / unit_mtbf_s(node.events_per_s(), unit_);
  return failures > 0 ? 1 / (faults::kFewestStepsPerFailure * failures) : kNever;
}

double MildFailures::most_progressing_step_s(const NodeFailures& node, int number) const {
  const auto& protection = setup_.problem.protections[static_cast<std::size_t>(number)];
  const faults::Environment& environment = setup_.recovery[static_cast<std::size_t>(number)];
  const faults::EnvironmentTerms terms = faults::environment_terms(environment);
  Costs costs;
  costs.failures = units_ / unit_mtbf_s(node.events_per_s(), unit_);
  if (!(costs.failures > 0)) return kNever;
  const double waits_s = most_wait_s(setup_.problem.failures, protection, setup_.nodes);
  costs.restarts =
      costs.failures * (std::max(terms.restart_s + environment.deep_restart_s, terms.voluntary_s) + waits_s);
  costs.masked_s = terms.masked_s;
  costs.save_s = terms.save_s;
  costs.deep_save_s = terms.deep_save_s;
  if (protection.rejoins && !is_mild_rejoining(costs, node, environment)) return kNotKnown;
  if (setup_.problem.failures.law.failures_in_restart || unit_.units < 2 || protection.rejoins)
    return in_long_cycles(costs, protection.k_max);
  if (protection.scheme == faults::Scheme::kReplication) return replicated(costs) / protection.r;
  if (protection.k_max != -1 && protection.k_max != 1) return in_long_cycles(costs, protection.k_max);
  const bool in_bursts = node.preemptions_per_s > 0 && node.preempted_together > 1;
  return at_the_first_loss(costs, in_bursts ? node.preemptions_per_s / node.events_per_s() : 0);
}

// At least; D being a mean time between failures or more, s^2 <= 2 U T_s failures.
double MildFailures::kept_of_saves(const Costs& costs, double losing) const {
  double kept = 1;
  for (const double save_s : {costs.save_s, costs.deep_save_s})
    if (save_s > 0 && losing > 0)
      kept *= tables_.least_efficiency(std::sqrt(2 * losing * save_s * costs.failures));
  return kept;
}

namespace {

// Patches of up to so many failures, on steps of up to half a one: those beside the first, by the fits for
// all Weibull shapes.
double repeats(double patch) {
  return 2.5 * patch + 2 * patch * patch;
}

}  // namespace

// A restart at each failure, before which work is lost only by the share `losing` that bursts have in the
// failures: of the choices of k_max one suffices.
double MildFailures::at_the_first_loss(const Costs& costs, double losing) const {
  const double room = kMostSlowdown * kept_of_saves(costs, losing);
  for (const double steps : {0.5, 0.125}) {                            // T(1) in times between failures
    const double patch = 2 * steps + costs.failures * costs.masked_s;  // T(N/(N - 1)) and the stop
    const double slowdown = 1 + costs.restarts + 2 * steps + patch * repeats(patch);
    if (slowdown * longer(0.5 * losing * steps) <= room) return steps / costs.failures;
  }
  return kNotKnown;
}

// T(r), to which the slowdown of replication refers.
double MildFailures::replicated(const Costs& costs) const {
  const double left = 1 - costs.failures * costs.masked_s;
  if (!(left > 0)) return kNotKnown;
  const double room = kMostSlowdown * kept_of_saves(costs, 1) * left / (1 + costs.restarts);
  for (const double steps : {0.5, 0.125})
    if (longer(0.5 * steps / left) <= room) return steps / costs.failures;
  return kNotKnown;
}

// Cycles that last until a wipe-out or a given k_max, on steps of which fewer than a fifth pass between
// failures: slowdown by stacks, work that patches and stops leave, and what a last patch adds, each at its
// worst.
double MildFailures::in_long_cycles(const Costs& costs, int k_max) const {
  constexpr double kMostLost = 0.2;
  const faults::FailureLaw& law = setup_.problem.failures.law;
  // Where restarts can fail at least half the cycle is left for work.
  if (law.failures_in_restart && !(costs.restarts <= 0.5)) return kNotKnown;
  const double cycle = law.failures_in_restart ? 1 / (1 - costs.restarts) : 1 + costs.restarts;
  // Checkpoints at whole steps: a cycle has K >= 2.5 of them (one, if the rate is constant), of which at most
  // 1/2K goes to an interval that no step fits.
  const double whole_steps = (law.rate_falls ? 0.75 : 0.5) * (law.failures_in_restart ? 0.6 : 1);
  const double kept =
      (law.rate_falls ? 0.5 : 0.08) * whole_steps * kept_of_saves(costs, law.failures_in_restart ? 2 : 1);
  // The rest of a step of T(c), c at the most 4N or 4, and its patches, of which some are hit: a failure long
  // with their stops.
  if (!law.rate_falls && 2 * k_max > units_) return kNotKnown;
  const double last_patch = 16 * kMostLost * (1.5 + 2 * repeats(1));
  if (!(cycle * most_stacks_ + last_patch <= kMostSlowdown * kept)) return kNotKnown;
  return kMostLost / costs.failures - costs.masked_s;
}

// Units that come back, in mild failures of less than 0.2 steps each: with at most half the units away T(c)
// is at most 2 T(1); done again it costs less than 2.2 T(1) (0.4 e^0.8 of 2.4 T(1)), pauses at most 2 T(1)
// and restarts elevenfold what checkpoints leave.
bool MildFailures::is_mild_rejoining(const Costs& costs, const NodeFailures& node,
                                     const faults::Environment& environment) const {
  const double nodes_lost_per_s = node.failures_per_s + node.preemptions_per_s * node.preempted_together;
  const double away = nodes_lost_per_s * static_cast<double>(unit_.nodes_per_unit) * environment.repair_s;
  const double pauses = costs.failures * environment.rejoin_s;
  return away <= 0.5 && pauses <= 1 && costs.restarts <= 10;
}

}  // namespace trainfront::search
