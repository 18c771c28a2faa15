#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace trainfront::search {

// How many protections of a cell make no progress, if nothing but this is known: T(1) is at most most_step_s
// and, unless failures strike too often, most_masking_step_s, and the work at most most_work_s or, where
// protections start over, at least least_work_s.
struct Certainty {
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  double most_step_s = kNever;          // of protections that do not mask failures
  double most_masking_step_s = kNever;  // of those that do
  double most_work_s = kNever;
  double least_work_s = 0;
  double struck_from_s = kNever;  // T(1) from which on faults::is_struck_too_often
  std::uint64_t masking = 0;      // protections that mask failures: none makes progress from there on
  // Others, and before that all, that make none whatever the step.
  std::uint64_t endless_plain = 0;
  std::uint64_t endless_masking = 0;
  std::uint64_t endless_from_scratch = 0;  // more, from least_work_s on

  // Of the protections of both.
  void add(const Certainty& other) {
    most_step_s = std::min(most_step_s, other.most_step_s);
    most_masking_step_s = std::min(most_masking_step_s, other.most_masking_step_s);
    most_work_s = std::min(most_work_s, other.most_work_s);
    least_work_s = std::max(least_work_s, other.least_work_s);
    struck_from_s = std::min(struck_from_s, other.struck_from_s);
    masking += other.masking;
    endless_plain += other.endless_plain;
    endless_masking += other.endless_masking;
    endless_from_scratch += other.endless_from_scratch;
  }

  // On either side of struck_from_s however that is rounded.
  bool is_surely_struck(double step_s) const { return step_s >= struck_from_s * (1 + 1e-9); }
  bool is_surely_not_struck(double step_s) const { return step_s <= struck_from_s * (1 - 1e-9); }

  bool is_known(double step_s, double at_least_work_s, double at_most_work_s) const {
    const bool of_masking =
        is_surely_struck(step_s) || (is_surely_not_struck(step_s) && step_s <= most_masking_step_s);
    return of_masking && step_s <= most_step_s &&
           (at_most_work_s <= most_work_s || at_least_work_s >= least_work_s);
  }
  // Where it is known.
  std::uint64_t struck(double step_s) const { return is_surely_struck(step_s) ? masking : 0; }
  std::uint64_t endless(double step_s, double at_least_work_s) const {
    const bool from_scratch_too = endless_from_scratch > 0 && at_least_work_s >= least_work_s;
    return endless_plain + (is_surely_struck(step_s) ? masking : endless_masking) +
           (from_scratch_too ? endless_from_scratch : 0);
  }
};

}  // namespace trainfront::search
