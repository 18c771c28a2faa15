#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faults/event_simulation.hpp"
#include "faults/monte_carlo.hpp"

namespace trainfront::faults {

// What redundancy does for one system: checkpoints alone, replication and SPARe over a range of r, in closed
// form and by simulation.
struct RedundancyStudy {
  // units, law, placement, step, environment, steps, checkpoint_every (-1: the best; with two levels of
  // checkpoints nothing else), trace, seed; protection gives sub_shards and k_max of SPARe.
  Simulation system;
  int r_min = 2;
  int r_max = 20;
  // Elastic shrinking, which gets a row if it is asked for: k_max -1 for the best; if units rejoin, the
  // system's environment says when.
  std::optional<Protection> elastic;
};

enum class RowKind : std::uint8_t {
  kCheckpoint,
  kFamilies,  // replication by N/r families; rows only where r divides N
  kStacked,   // replication as SPARe's paper compares with: N types on r groups, all computed always
  kSpare,
  kElastic,
};

struct RedundancyRow {
  RowKind kind = RowKind::kCheckpoint;
  int r = 1;
  double failures_paper = 0;  // the paper's mu and S; NaN where it has none
  double failures = 0;        // mean failures in a cycle; NaN where lost units come back: there is none
  double stacks_paper = 0;
  double stacks = 1;        // over the time up
  double availability = 0;  // 1 - (restarts and checkpoints)/time
  double time_ratio = 0;    // time over that without failures and protection; infinity: no progress; NaN: not
                            // known, nor the availability (precise_time.hpp)
  std::int64_t checkpoint_every = 0;  // steps; 0: none
  std::int64_t deep_every = 0;        // steps between those on the shared file system beside a quick tier
  double checkpoint_interval_s = 0;   // from the start of one to the start of the next
  int k_max = 0;                      // voluntary restart after so many lost units; 0: none

  bool is_rough = false;  // as PreciseTime::is_rough

  bool is_known() const { return !std::isnan(time_ratio); }
};

// The setup of a row, for simulate() and precise_time(). checkpoint_every as in the row.
Simulation simulation_of(const RedundancyStudy& study, const RedundancyRow& row);

// In the order of the table, what each row is of.
struct RowOf {
  RowKind kind = RowKind::kCheckpoint;
  int r = 1;
};
std::vector<RowOf> rows_of(const RedundancyStudy& study);
RedundancyRow redundancy_row(const RedundancyStudy& study, const RowOf& of);
std::vector<RedundancyRow> redundancy_rows(const RedundancyStudy& study);

struct RedundancySimulated {
  Mean failures;
  double stacks = 1;              // over the time up of a cycle; NaN: there was none
  double availability = 0;        // 1 - (restarts and checkpoints)/time, of all runs together; NaN: of runs
                                  // that were given up
  double availability_error = 0;  // standard error
  Mean time_ratio;
};
// The least r of those with the least time among checkpoints (1) and SPARe; 0 when nothing ever fails;
// nothing where none of them ever finishes, or where that of a row is not known. `simulated`, unless empty,
// has all rows and stands for those that are not known.
std::optional<int> optimal_redundancy(const RedundancyStudy& study, std::span<const RedundancyRow> rows,
                                      std::span<const RedundancySimulated> simulated = {});

// One trial of one row: until a wipe-out by Monte Carlo, and a whole run by events.
struct RedundancyTrial {
  double failures = 0;
  double cycle_time = 0;
  double stacks = 0;
  double time_ratio = 0;  // infinity: given up
  double down_ratio = 0;  // restarts and checkpoints, over the same time
};
RedundancyTrial redundancy_trial(const RedundancyStudy& study, const RedundancyRow& row, std::int64_t number);

RedundancySimulated summarize(std::span<const RedundancyTrial> trials);

}  // namespace trainfront::faults
