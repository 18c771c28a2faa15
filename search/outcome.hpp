#pragma once

#include <cstdint>

#include "costmodel/evidence.hpp"
#include "costmodel/legality.hpp"
#include "faults/spread.hpp"

namespace trainfront::search {

enum class Verdict : std::uint8_t { kFeasible, kIllegal, kOutOfMemory, kNotFinite };

// What a plan yields. Only verdict and rule (and memory) mean anything unless it is feasible.
struct Outcome {
  Verdict verdict = Verdict::kIllegal;
  costmodel::Rule rule = costmodel::Rule::kNone;
  double time_to_train_s = 0;  // with Goal::probability what holds with it (faults::RunTime), else the mean
  double cost_usd = 0;         // of that time
  faults::TimeSpread spread;   // of single runs about the mean
  std::int64_t nodes = 0;      // paid for
  double step_time_s = 0;      // without failures, one stack
  double memory_bytes = 0;     // of the worst stage
  double memory_capacity_bytes = 0;
  double checkpoint_interval_s = 0;  // 0: none
  double shared_interval_s = 0;      // of those on the shared file system beside a quick tier; 0: none
  int k_max = 0;                     // voluntary restart after so many lost groups; 0: never
  bool is_struck_too_often = false;  // not finite, for faults::is_struck_too_often
  double steps_per_failure = 0;      // between two events of the whole system; infinity: nothing fails
  double availability = 1;           // share of the time not spent on restarts and checkpoints
  double goodput = 1;                // failure-free time over the mean time
  costmodel::Evidence evidence = costmodel::Evidence::kCalibrated;
};

// A point of the front: all that the search compares by. Outcomes are recomputed from the index for the
// report.
struct Point {
  double time_s = 0;
  double cost_usd = 0;
  std::uint64_t index = 0;

  bool operator==(const Point&) const = default;
};

}  // namespace trainfront::search
