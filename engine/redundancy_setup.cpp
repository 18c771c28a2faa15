#include "engine/redundancy_setup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/errors.hpp"
#include "engine/reports/readable.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/failure_trace.hpp"
#include "inputs/quantity.hpp"

namespace trainfront::engine {
namespace {

constexpr std::int64_t kMostGroups = 1'000'000;
constexpr int kMostRedundancy = 1024;
constexpr double kMost_s = 1e9;  // some thirty years
constexpr double kMostMtbf_s = 1e15;

// Gathers all that is wrong, so that it is reported at once.
class Checker {
 public:
  void require(bool holds, const std::string& problem) {
    if (!holds) problems_ += (problems_.empty() ? "" : "\n") + problem;
  }

  double duration_s(const std::string& option, const std::string& text, bool zero_is_allowed,
                    double most_s = kMost_s) {
    const std::optional<double> seconds = inputs::parse_duration_s(text);
    const bool good = seconds && (zero_is_allowed ? *seconds >= 0 : *seconds > 0) && *seconds <= most_s;
    require(good, fmt::format("{} {}: needs {}, {}, and at most {:g} s", option, inputs::in_quotes(text),
                              inputs::kDurationForm, zero_is_allowed ? "0 or more" : "above 0", most_s));
    return good ? *seconds : 1;
  }

  void throw_if_any() const {
    if (!problems_.empty()) throw UsageError(problems_);
  }

 private:
  std::string problems_;
};

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_range(const RedundancyOptions& options, Checker& check, faults::RedundancyStudy& study) {
  const std::int64_t groups = study.system.units;
  if (options.r.empty()) {
    study.r_min = static_cast<int>(std::min<std::int64_t>(2, groups));
    study.r_max = static_cast<int>(std::min<std::int64_t>(20, groups));
    return;
  }
  const std::size_t colon = options.r.find(':');
  const std::optional<int> low = whole_number(std::string_view(options.r).substr(0, colon));
  const std::optional<int> high =
      colon == std::string::npos ? low : whole_number(std::string_view(options.r).substr(colon + 1));
  if (!low || !high) {
    check.require(false, fmt::format("--r \"{}\": needs MIN:MAX or one whole number", options.r));
    return;
  }
  check.require(*low >= 1, fmt::format("--r {}: the redundancy must be at least 1", options.r));
  check.require(*low <= *high,
                fmt::format("--r {}: the first number must not be above the second", options.r));
  check.require(*high <= kMostRedundancy, fmt::format("--r {}: at most {}", options.r, kMostRedundancy));
  check.require(groups < 1 || *high <= groups,
                fmt::format("--r {}: a shard cannot have more hosts than the {} groups", options.r, groups));
  study.r_min = *low;
  study.r_max = *high;
}

// Events of the trace, not units, come so often.
double mtbf_of(const std::vector<faults::DatedFailure>& trace) {
  return trace.back().time_s / static_cast<double>(trace.size());
}

// Events that take several units are bursts.
void read_bursts(const std::vector<faults::DatedFailure>& trace, faults::FailureLaw& law) {
  double events = 0;
  double units = 0;
  for (const faults::DatedFailure& failure : trace) {
    if (failure.units < 2) continue;
    events += 1;
    units += failure.units;
  }
  if (!(events > 0)) return;
  law.burst_share = events / static_cast<double>(trace.size());
  law.burst_units = units / events;
}

// The system's own options, in place of a plan. The trace gives what they leave out of the law.
void read_system(const RedundancyOptions& options, Checker& check, faults::Simulation& system) {
  check.require(options.groups >= 1 && options.groups <= kMostGroups,
                fmt::format("--groups {}: needs a whole number from 1 to {}", options.groups, kMostGroups));
  system.units = options.groups;
  if (options.mtbf.empty() && !system.trace.empty() && system.trace.back().time_s > 0) {
    system.environment.group_mtbf_s =
        mtbf_of(system.trace) * static_cast<double>(std::max<std::int64_t>(1, options.groups));
    read_bursts(system.trace, system.law);
  } else if (options.mtbf == "inf" || options.mtbf == "never") {
    system.environment.group_mtbf_s = std::numeric_limits<double>::infinity();
  } else {
    const double mtbf_s = check.duration_s("--mtbf", options.mtbf, false, kMostMtbf_s);
    system.environment.group_mtbf_s = mtbf_s * static_cast<double>(std::max<std::int64_t>(1, options.groups));
  }
  system.law.weibull_shape = options.weibull_shape;
  check.require(options.weibull_shape >= faults::kLeastWeibullShape &&
                    options.weibull_shape <= faults::kMostWeibullShape,
                fmt::format("--weibull-shape {}: needs a number from 0.5 to 2 (1: exponential)",
                            options.weibull_shape));
  check.require(options.rate == "falling" || options.rate == "constant",
                fmt::format("--rate \"{}\": one of falling, constant", options.rate));
  system.law.rate_falls = options.rate != "constant";
  system.law.failures_in_restart = options.failures_in_restart;

  system.environment.restart_s = check.duration_s("--restart", options.restart, true);
  system.environment.save_s = check.duration_s("--checkpoint", options.checkpoint, true);
  system.environment.detect_s = check.duration_s("--detect", options.detect, true);
  system.environment.reorder_s = check.duration_s("--reorder", options.reorder, true);
  check.require(system.environment.detect_s <= system.environment.restart_s,
                "--detect: must not be above --restart, which includes the detection");
  system.step.per_stack_s = check.duration_s("--stack-time", options.stack_time, false);
  system.step.fixed_s = check.duration_s("--sync-time", options.sync_time, true);
  // Failures in the synchronisation: the next step's order takes them into account.
  system.sync_needs_patch = false;
  check.require(options.stack_deviation >= 0 && options.stack_deviation <= 1,
                fmt::format("--stack-deviation {}: needs a number from 0 to 1", options.stack_deviation));
  system.stack_deviation = options.stack_deviation;
  check.require(options.steps >= 1 && options.steps <= 1'000'000'000,
                fmt::format("--steps {}: needs a whole number from 1 to 1e9", options.steps));
  system.steps = options.steps;
}

// A row of elastic shrinking: a plan's own protection, or what the options ask for.
void read_elastic(const RedundancyOptions& options, Checker& check, faults::RedundancyStudy& study) {
  const bool comes_back = !options.repair.empty();
  if (comes_back) {
    check.require(options.elastic, "--repair: only --elastic takes repaired groups back");
    study.system.environment.repair_s = check.duration_s("--repair", options.repair, false);
    study.system.environment.rejoin_s = study.system.environment.reorder_s;
  }
  if (options.elastic && !study.elastic) study.elastic = faults::Protection{faults::Scheme::kElastic};
  if (!study.elastic) return;
  faults::Protection& elastic = *study.elastic;
  if (options.elastic) {
    elastic.k_max = -1;
    elastic.rejoins = comes_back;
    if (!comes_back) study.system.environment.repair_s = 0;
  }
  elastic.sub_shards = options.sub_shards.value_or(elastic.sub_shards);
  elastic.k_max = options.k_max.value_or(elastic.k_max);
  check.require(!elastic.rejoins || elastic.sub_shards == 1,
                "--sub-shards: where repaired groups come back batches are shared out without rounding");
}

}  // namespace

faults::RedundancyStudy redundancy_study(const RedundancyOptions& options, const faults::Simulation* given,
                                         const std::optional<faults::Protection>& elastic) {
  Checker check;
  faults::RedundancyStudy study;
  faults::Simulation& system = study.system;

  check.require(options.plan.empty() || given != nullptr, "--plan: needs a sweep file");
  if (given == nullptr && options.groups == 0 && options.mtbf.empty()) {
    throw UsageError("which system? Give --groups and --mtbf, or a sweep file");
  }
  if (given != nullptr) {
    check.require(options.groups == 0 && options.mtbf.empty(),
                  "--groups, --mtbf: the sweep file's plan gives them");
    system = *given;
    check.require(options.checkpoint_every == -1 || !(system.environment.deep_share > 0),
                  "--checkpoint-every: the plan has two kinds of checkpoints, whose intervals are optimised");
  }
  if (!options.failures.empty()) {
    check.require(options.simulate > 0, "--failures: only --simulate plays them");
    inputs::Diagnostics faults;
    system.trace = inputs::read_failure_trace(options.failures, faults);
    faults.throw_if_any();
  }
  if (given == nullptr) read_system(options, check, system);
  if (options.placement == "random") {
    system.placement = faults::Placement::kRandom;
  } else if (options.placement == "consecutive") {
    system.placement = faults::Placement::kConsecutive;
  } else {
    check.require(options.placement == "golomb",
                  fmt::format("--placement \"{}\": one of golomb, random, consecutive", options.placement));
  }
  int& sub_shards = system.protection.sub_shards;
  sub_shards = options.sub_shards.value_or(sub_shards);
  check.require(sub_shards >= 1 && sub_shards <= 1024,
                fmt::format("--sub-shards {}: needs a whole number from 1 to 1024", sub_shards));
  int& k_max = system.protection.k_max;
  k_max = options.k_max.value_or(k_max);
  check.require(
      k_max >= 0 && k_max <= std::max<std::int64_t>(1, system.units),
      fmt::format("--k-max {}: needs a whole number from 0 (never) to the number of groups", k_max));

  study.elastic = elastic;
  read_elastic(options, check, study);

  check.require(options.checkpoint_every == -1 || options.checkpoint_every >= 1,
                fmt::format("--checkpoint-every {}: needs a whole number of steps, at least 1",
                            options.checkpoint_every));
  system.checkpoint_every = options.checkpoint_every;
  check.require(
      options.simulate >= 0 && options.simulate <= 1'000'000,
      fmt::format("--simulate {}: needs a whole number of trials from 0 to 1000000", options.simulate));
  system.seed = options.seed;
  read_range(options, check, study);
  check.throw_if_any();
  return study;
}

std::vector<std::string> redundancy_notes(const RedundancyOptions& options,
                                          const faults::RedundancyStudy& study) {
  std::vector<std::string> notes;
  const faults::Simulation& system = study.system;
  if (!system.trace.empty()) {
    double units = 0;
    for (const faults::DatedFailure& failure : system.trace) units += failure.units;
    notes.push_back(fmt::format(
        "simulated runs take the {} dated failures ({:g} units) of {}, and none after its last at {}; the "
        "closed forms, and failures and stacks of a cycle, take the law with {}",
        system.trace.size(), units, options.failures, readable_duration(system.trace.back().time_s),
        options.mtbf.empty() && options.file.empty() ? "their mean rate and bursts" : "the given rate"));
  }
  const double step_s = system.step.fixed_s + system.step.per_stack_s;
  const double mtbf_s = system.environment.group_mtbf_s / static_cast<double>(system.units);
  if (mtbf_s < step_s) {
    notes.push_back(fmt::format("failures come every {:.4g} s, more often than one step of {:.4g} s ends",
                                mtbf_s, step_s));
  }
  if (system.placement == faults::Placement::kConsecutive) {
    notes.push_back(
        "consecutive placement needs more stacks than the fair share that the closed form takes, up to "
        "a fifth more; --simulate counts them");
  }
  if (system.protection.sub_shards > 1) {
    notes.push_back(
        "with sub-shards the closed form takes the fair share of stacks to be reached, which holds for r of "
        "6 and more");
  }
  return notes;
}

}  // namespace trainfront::engine
