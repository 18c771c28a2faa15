#include "faults/rejoin.hpp"

#include <algorithm>

namespace trainfront::faults {
namespace {

// E (B - s)^+ for Poisson B: mean - s + sum over b < s of (s - b) P(b).
double mean_excess(double mean, std::int64_t spares) {
  double excess = mean - static_cast<double>(spares);
  double term = std::exp(-mean);
  for (std::int64_t b = 0; b < spares; ++b) {
    excess += static_cast<double>(spares - b) * term;
    term *= mean / static_cast<double>(b + 1);
  }
  return std::max(0.0, excess);
}

// The deficit lowers the failures that make it: the left side of d = excess((N - d) load) rises, the right
// falls.
double deficit_of(double units, double load, bool rate_falls, std::int64_t idle_spares) {
  double low = 0;
  double high = units;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    const double failing = rate_falls ? units - middle : units;
    (mean_excess(failing * load, idle_spares) > middle ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Chance that an event takes the last copy of a part of the state: with B units missing, Poisson, and J more
// by the event, 1 - P_(B+J)/P_B.
double chance_of_loss(const Survival& lives, const FailureLaw& law, double deficit) {
  const double p = 1 / law.burst_units;
  const auto at = [&](std::size_t k) { return k < lives.size() ? lives[k] : 0.0; };
  double chance = 0;
  double missing = std::exp(-deficit);
  for (std::size_t b = 0; b < lives.size(); ++b) {
    double survives = (1 - law.burst_share) * at(b + 1);
    double size = law.burst_share * p;
    for (std::size_t j = 1; law.burst_share > 0 && size > 1e-12 && b + j < lives.size(); ++j) {
      survives += size * at(b + j);
      size *= 1 - p;
    }
    chance += missing * (1 - survives / lives[b]);
    missing *= deficit / static_cast<double>(b + 1);
    if (missing < 1e-15 && static_cast<double>(b) > deficit) break;
  }
  return std::clamp(chance, 0.0, 1.0);
}

struct Losses {
  double rate = 0;     // of the state, 1/s
  double deficit = 0;  // mean units missing
};

// All units are back after a restart; the deficit grows to `full` within a repair. Time to a loss: the
// integral of exp(-(hazard to t)).
Losses losses_of(double units, const Survival& lives, const FailureLaw& law, const Environment& environment,
                 double full) {
  const auto hazard = [&](double deficit) {
    const double failing = law.rate_falls ? units - deficit : units;
    return failing / environment.group_mtbf_s * chance_of_loss(lives, law, deficit);
  };
  const double settled = hazard(full);
  if (!(settled > 0)) return {0, full};
  constexpr int kPieces = 24;
  const double piece_s = environment.repair_s / kPieces;
  double passed = 0;  // hazard
  double time_s = 0;
  double missing_s = 0;
  for (int i = 0; i < kPieces; ++i) {
    const double deficit = full * (i + 0.5) / kPieces;
    const double risk = hazard(deficit) * piece_s;
    const double there_s = std::exp(-passed - risk / 2) * piece_s;
    time_s += there_s;
    missing_s += there_s * deficit;
    passed += risk;
  }
  const double later_s = std::exp(-passed) / settled;
  time_s += later_s;
  missing_s += later_s * full;
  return {1 / time_s, missing_s / time_s};
}

}  // namespace

RejoinTerms rejoin_terms(std::int64_t units, const Survival& lives, const FailureLaw& law,
                         const Environment& environment) {
  RejoinTerms terms;
  const auto n = static_cast<double>(units);
  const double taken = 1 + law.burst_share * (law.burst_units - 1);  // units an event takes
  const double load = taken * environment.repair_s / environment.group_mtbf_s;
  terms.deficit = deficit_of(n, load, law.rate_falls, environment.idle_spares);
  if (!(n - terms.deficit >= 1)) {
    terms.progress = false;
    return terms;
  }
  const Losses losses = losses_of(n, lives, law, environment, terms.deficit);
  terms.deficit = losses.deficit;
  terms.lost_rate = losses.rate;
  terms.units_left = n - terms.deficit;
  terms.stacks = n / terms.units_left;
  terms.event_rate = (law.rate_falls ? terms.units_left : n) / environment.group_mtbf_s;
  terms.again_s = environment.detect_s + environment.reorder_s;
  terms.pause_s = environment.rejoin_s;
  const double b = law.burst_units;
  const double squares = 1 + law.burst_share * (2 * b * b - b - 1);
  const double waits =
      environment.idle_spares > 0 ? terms.deficit / (terms.event_rate * taken) : environment.repair_s;
  terms.missing_s = taken * waits;
  terms.missing_squares = squares * waits * waits;

  terms.repair_s = environment.repair_s;
  terms.restart_s = environment.restart_s;
  terms.waiting = 1 + terms.lost_rate * environment.restart_s;
  const double save_s = environment.deep_share > 0 ? environment.deep_save_s : environment.save_s;
  terms.save_s = save_s;
  const double s = std::sqrt(2 * terms.lost_rate * save_s);
  terms.progress = s < kSlowestSave;
  terms.kept = efficiency(kExponentialFailure, s);
  if (s > 0) terms.interval_s = (1 - terms.kept) / terms.lost_rate + save_s;
  return terms;
}

Moments rejoining_moments(const RejoinTerms& terms, const StepModel& step, double steps, double mean_s) {
  const RejoinStep mean = rejoin_step(terms, step);
  // A missing unit slows a step of T(c) by T'(c) c/(N - d).
  const double slowing = step.per_stack_s * terms.stacks / (terms.units_left * mean.step_s);
  const double once_s = mean.step_s + terms.again_s + terms.pause_s;
  const double event_squares =
      once_s * once_s + 2 * once_s * slowing * terms.missing_s + slowing * slowing * terms.missing_squares;
  const double loss_s = terms.restart_s + terms.interval_s / 2;
  Moments moments;
  moments.least_s = std::min(mean_s, steps * (step.fixed_s + step.per_stack_s));
  moments.variance =
      mean_s * (terms.event_rate * event_squares +
                terms.lost_rate * (loss_s * loss_s + terms.interval_s * terms.interval_s / 12));
  // Of events, or of repairs where these are longer: a run starts with all units.
  const double events = mean_s * terms.event_rate;
  moments.cycles = terms.repair_s > 0 ? std::min(events, mean_s / terms.repair_s) : events;
  return moments;
}

}  // namespace trainfront::faults
