#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "faults/efficiency.hpp"
#include "faults/late_costs.hpp"
#include "faults/patch_sharing.hpp"
#include "faults/placement.hpp"
#include "faults/protection.hpp"
#include "faults/protection_check.hpp"
#include "faults/spread.hpp"
#include "faults/stack_classes.hpp"
#include "faults/survival.hpp"

namespace trainfront::faults {

// One cycle, from a global restart to the next, of N failing units: a renewal model (docs/failures.md). In
// state k, k units are lost; the cycle gets there with P_k v_k, v_k being 1 unless bursts leap over states,
// stays w_k = 1/(N-k) MTBFs of one unit (1/N if the rate does not fall with the survivors), and runs at c(k)
// stacks. Where failures strike during restarts the restart is the cycle's first part.
struct CycleColumn {
  int k_max = 0;                 // voluntary restart when so many units are lost; 0: none
  double dwell = 0;              // D, the sum of P_k v_k w_k: mean time to its end, in MTBFs of one unit
  double restart_dwell = 0;      // of that, the restart that it begins with, where that can fail
  double starts = 1;             // chance that it outlives that restart
  double losing = 1;             // U: chance that the cycle's end loses the work since the last checkpoint
  double masked = 0;             // mean failures (bursts count once) masked in a cycle
  double failures = 0;           // mean failures in a cycle, the one that ends it included
  double stacks = 1;             // c(k) averaged over the time at work
  double last_crowding = 0;      // failures per MTBF of one unit when it ends
  double end_stacks = 1;         // c(k) after a voluntary restart's last failure
  Efficiency efficiency{};       // of checkpoints
  double one_failure_shape = 0;  // Weibull shape of the cycle's length where one failure ends it; else 0
  LateCosts late;                // of what masks failures; else nothing comes late

  int classes = 0;
  std::array<double, kStackClasses> class_stacks{};
  std::array<double, kStackClasses> class_dwell{};
  std::array<double, kStackClasses> class_failures{};
  std::array<double, kStackClasses> class_crowding{};  // mean failures per MTBF of one unit as they struck
  std::array<double, kStackClasses> class_entered{};
  // For the spread alone, and with the restart that the cycle begins with, where that can fail.
  std::array<double, kStackClasses> class_stay{};
  std::array<double, kStackClasses> class_passage{};
  std::array<double, kStackClasses> class_squares{};
};

// What a law's shape alone decides.
struct ShapeFits {
  Efficiency one_failure;
  PatchFit patches;
};
ShapeFits shape_fits(double weibull_shape);

// Depends on the arguments of cycle_table alone; built once and then nanoseconds per plan.
struct CycleTable {
  ProtectionError error = ProtectionError::kNone;  // unless kNone, there are no columns
  std::int64_t units = 0;
  bool starts_over = false;  // no protection: a failure starts the training over
  bool rejoins = false;      // lost units come back (rejoin.hpp): there are no cycles and no columns
  Survival rejoining_lives;  // chance that the state outlives so many missing units
  FailureLaw law;            // of those
  bool restarts_fail = false;
  double restart_mtbfs = 0;  // the law's; read if restarts fail
  double patch_stacks = 0;   // a masked failure costs so many stacks more,
  double patch_steps = 0;    // and so many steps, once it is known
  PatchFit patches;          // how failures share them
  bool masks = false;        // the first failure does not end the cycle
  std::vector<CycleColumn>
      columns;  // choices of k_max, of which the plan takes the best; one unless k_max is -1
};

// How long N units live under a protection: data, and state where fewer than all units hold a part of it
// (`state_copies` >= 0 units each). {1} if the first failure ends the cycle. The arguments must pass check().
Survival protection_survival(std::int64_t groups, const Protection& protection, std::int64_t state_copies,
                             Placement placement, std::uint64_t seed);
// Its two parts, each of which many protections share: scheme and r alone tell data apart.
Survival data_survival(std::int64_t groups, const Protection& protection, Placement placement,
                       std::uint64_t seed);
Survival state_survival(std::int64_t groups, std::int64_t state_copies);

// c(k), with k of N units lost.
double stacks_needed(const Protection& protection, std::int64_t groups, std::int64_t lost);

// What a masked failure costs besides the stop: so many stacks more, and so many whole steps.
struct Patch {
  double stacks = 0;
  double steps = 0;
};
Patch patch_of(const Protection& protection);

// `groups`: failing units (failing_unit.hpp). `state_copies`: units that hold the same part of the training
// state; -1: all of them.
CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies = -1);
// The same where many tables are built for one law: `fits` is shape_fits(law.weibull_shape), `lives` the
// protection_survival().
CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies, const ShapeFits& fits, const Survival& lives);
// The same with host placements other than Golomb.
CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       std::int64_t state_copies, Placement placement, std::uint64_t seed);
// From a survival of one's own (SPARe).
CycleTable cycle_table(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                       const Survival& survival);

// The step with c stacks takes fixed_s + c per_stack_s.
struct StepModel {
  double fixed_s = 0;
  double per_stack_s = 0;
};

struct Environment {
  double group_mtbf_s = 0;  // of one failing unit alone; infinity: never fails
  double restart_s = 0;     // a global restart, detection included
  double save_s = 0;        // a checkpoint stops training for this
  double detect_s = 0;      // before a masked failure is known; not above restart_s
  double reorder_s = 0;     // controller and shrinking after it
  // Two levels of checkpoints: a quick one, of which save_s and restart_s are, and a deep one, written more
  // seldom, for the ends of a cycle that destroy the quick one.
  double deep_save_s = 0;     // a deep checkpoint stops training for this
  double deep_share = 0;      // of the ends of a cycle, those that destroy the quick checkpoint
  double deep_restart_s = 0;  // a restart takes so much longer after them
  // Elastic, with units that come back.
  double repair_s = 0;           // from the failure until the unit is back
  double rejoin_s = 0;           // training stops for this to take it in
  std::int64_t idle_spares = 0;  // units that stand in for lost ones at once
};

// No NaN, an MTBF above 0, no time below 0, detection within the restart.
bool is_valid(const Environment& environment);

// The law with what a cycle's states have to know of the environment: tables of it are for that ratio of
// restart to MTBF alone, wherever restarts can fail.
FailureLaw law_in(const FailureLaw& law, const Environment& environment);

// Training of `steps` steps. An environment that is not valid, or not the table's, makes no progress.
struct RunTime {
  double time_s = 0;      // in the mean; or what holds with the chance that was asked for, never less than
                          // the mean. Infinity: it makes no progress
  double interval_s = 0;  // best time from the start of a checkpoint to the next, whole steps; 0: none are
                          // written
  double deep_interval_s = 0;  // of deep checkpoints; 0: none
  double availability = 1;     // share of time outside restarts and checkpoints
  int k_max = 0;               // voluntary restart after so many lost units; 0: none
  TimeSpread spread;           // of single runs about the mean
};
inline constexpr double kManySteps = 1e12;  // of no few cycles: the mean over long runs, per step
RunTime run_time(const CycleTable& table, const StepModel& step, const Environment& environment, double steps,
                 const std::optional<Chance>& chance = {});

// A lower bound on run_time() for every step model whose step with c stacks takes at least
// least_step_s (1 + stack_share (c - 1)), and every environment that fails as seldom, restarts as fast and
// saves as fast as `best` or worse. 0 <= stack_share <= 1.
double least_run_time_s(const CycleTable& table, double least_step_s, double stack_share,
                        const Environment& best, double steps);

}  // namespace trainfront::faults
