#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "faults/cycle_kernel.hpp"
#include "faults/rejoin.hpp"
#include "search/certainty.hpp"
#include "search/cycle_vector.hpp"
#include "search/tables.hpp"
#include "search/unit_setup.hpp"

namespace trainfront::search {

// Times up to here have a finite price.
inline constexpr double kCertainlyFinite_s = 1e200;

// Time-to-train of one step under every protection and failure rate of a block at once: faults::run_time, the
// same operations in the same order and so the same bits, laid out so that compilers vectorise it over the
// protections. Times are means, or hold with Goal::probability and are then never less than the means.
class UnitKernel {
 public:
  // `unit`: what fails as one; `state_copies` as in faults::cycle_table.
  UnitKernel(const BlockSetup& setup, const ProtectionLists& protections, const faults::FailingUnit& unit,
             std::int64_t state_copies, Tables& tables);

  // What does not depend on the failure rate; then for each rate run(), then the cells of that rate: the next
  // four are of the rate that ran last.
  void set_step(const faults::StepModel& step, double steps);
  void run(std::size_t rate);

  // The least time among the protections of one spares class, infinity if none ends; and the first with that
  // time.
  double least_time_s(std::size_t spare) const;
  int first_with(std::size_t spare, double time_s) const;

  // True if some time of the spares class is infinite, or so long that its price may not be finite.
  bool may_be_endless(std::size_t spare) const;
  struct ProtectionTime {
    int protection = 0;
    double time_s = 0;
    bool is_struck_too_often = false;  // faults::is_struck_too_often
  };
  // Every protection of the spares class.
  void best_times(std::size_t spare, std::vector<ProtectionTime>& best) const;

  // For each cell (rate, spares class) the least time over work, steps times T(1), among its protections that
  // do not start over, for steps with T(c) >= T(1) (1 + stack_share (c - 1)); infinity if there are none. By
  // cell, kLengths times: of runs of any length, ..., of runs that see least_failures(length) or more. Uses
  // up the step.
  void least_factors(double stack_share, std::vector<double>& of_cell);

  // Of runs whose work sees `failures` of the whole system: where its factor is among a cell's.
  static constexpr std::size_t kLengths = 21;
  static std::size_t length_of(double failures);
  static double least_failures(std::size_t length);
  // Work that takes `time_s` under the protections of a cell that start over at every failure, the quickest
  // of them; 0 if there are none.
  double work_from_scratch(std::size_t rate, std::size_t spare, double time_s) const;

  // When it is certain, from a step's time alone, how many protections of a cell make progress.
  Certainty certainty(std::size_t rate, std::size_t spare) const;

  std::size_t bytes() const;

  // Times that the runs of all groups of rates compute.
  std::size_t columns() const { return columns_.protection.size(); }

 private:
  struct Segment {  // of one spares class
    std::size_t first = 0;
    std::size_t last = 0;
    std::vector<int> from_scratch;  // protections that start over at every failure
    std::size_t first_scratch = 0;
    std::vector<int> rejoining;  // those whose lost units come back
    std::size_t first_rejoining = 0;
  };
  // Neighbouring columns that see neighbouring cycles.
  struct Run {
    std::size_t column = 0;
    std::size_t cycle = 0;
    std::size_t count = 0;
  };
  // Failure rates that share a law (faults::law_in), and so columns: all of them unless restarts can fail or
  // bursts differ.
  struct Group {
    std::size_t first = 0;  // columns
    std::size_t last = 0;
    std::vector<Segment> segments;  // by spares class
    std::vector<Run> runs;
  };
  // A choice of k_max of one table: what protections that differ in spares and tier alone have in common, and
  // all that a step's sums depend on.
  struct Cycles {
    std::vector<std::shared_ptr<const faults::CycleTable>> table;
    std::vector<const faults::CycleColumn*> source;
    std::vector<double> patch_stacks, patch_steps, masked_s, losing, leaving, last_stacks, end_stacks,
        last_crowding;
    // By class of stacks, then cycle; classes that a cycle lacks hold zeros.
    std::vector<double> class_stacks, class_dwell, class_failures, class_crowding, class_entered;
    // Only where some mask failures: faults::LateCosts.
    std::vector<double> at_work, at_work_inverse, others, first_stacks, settled, further, further_inverse,
        further_sharp, ends, ends_inverse, ends_sharp;
    // Only where times must hold with a probability.
    std::vector<double> dwell, up_squares, class_stay, class_passage, class_squares;
  };
  struct Columns {  // by column, a choice of k_max of one protection
    std::vector<int> protection;
    std::vector<std::size_t> cycle;
  };
  struct Rate {
    std::size_t group = 0;
    double unit_failures_per_s = 0;
    // By column, from the group's first on: faults::CycleRate, and faults::SpreadRate.
    std::vector<double> failure_rate, efficiency, interval, losing, cycle;
    std::vector<double> saving, lost, lost_squares, restart_more, restart_variance, restart_lost;
    // By protection that has no cycles, in segment order.
    std::vector<faults::EnvironmentTerms> from_scratch;
    std::vector<faults::RejoinTerms> rejoining;
  };
  faults::Environment environment_of(const BlockSetup& setup, int number, const NodeFailures& node,
                                     Tables& tables) const;
  void add_group(const BlockSetup& setup, const ProtectionLists& protections, const RateClass& rate,
                 std::int64_t state_copies, Tables& tables);
  void add_cycles(const std::shared_ptr<const faults::CycleTable>& table, double masked_s);
  struct Cycling {  // a protection and its table's cycles
    int protection = 0;
    std::size_t cycle = 0;
    std::size_t count = 0;
    int turn = 0;
  };
  void add_columns(std::vector<Cycling> protections, Group& group);
  void lay_out_classes();
  ClassArrays classes() const;
  SumArrays sums(std::size_t first);
  SpreadSumArrays spread_sums(std::size_t first);
  LateArrays late(std::size_t first) const;
  LateSumArrays late_sums(std::size_t first);
  void lay_out_late();
  void hold(const Rate& rate);
  static RateArrays arrays_of(const Rate& rate, std::size_t first);
  faults::CycleRate cycle_rate(const Rate& rate, std::size_t column) const;
  const Segment& segment(std::size_t rate, std::size_t spare) const {
    return groups_[rates_[rate].group].segments[spare];
  }
  double least_factor(const Segment& segment, double failures) const;
  bool surely_progresses(const Rate& rate, std::size_t column, double most_step_s) const;
  double most_step_s(const Rate& rate, std::size_t column) const;
  bool is_struck(const Rate& rate) const {
    return faults::is_struck_too_often(units_, rate.unit_failures_per_s, step_);
  }
  bool masks(std::size_t column) const { return cycles_.table[columns_.cycle[column]]->masks; }
  Rate rate_terms(const BlockSetup& setup, std::size_t group, const NodeFailures& node,
                  std::int64_t state_copies, const std::vector<faults::CycleSums>& unstepped,
                  Tables& tables) const;

  std::vector<Group> groups_;
  Cycles cycles_;
  Columns columns_;
  std::size_t classes_ = 0;
  std::optional<faults::Chance> chance_;
  std::vector<Rate> rates_;
  faults::FailingUnit unit_;
  double units_ = 0;
  std::size_t rate_ = 0;  // that run() was last asked for

  double steps_ = 0;
  double step_s_ = 0;
  // By cycle.
  std::vector<double> work_rate_, patch_steps_, shared_, shared_twice_, patch_rate_, again_, again_twice_;
  std::vector<double> most_shared_, last_patch_s_, last_again_s_, left_share_;
  std::vector<double> full_step_s_, seconds_, gained_;
  std::vector<double> mean_step_s_, first_, more_, first_lag_, first_inverse_, settled_;
  bool masking_ = false;  // some of the columns
  std::vector<double> stay_steps_, up_steps_, step_squares_, before_, steps_before_;
  std::vector<double> times_;  // by column
  faults::StepModel step_;
  std::vector<double> scratch_times_;    // by protection that starts over, in segment order
  std::vector<double> rejoining_times_;  // likewise
};

}  // namespace trainfront::search
