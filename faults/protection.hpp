#pragma once

#include <compare>
#include <cstdint>

namespace trainfront::faults {

// How failures are survived (docs/failures.md).
enum class Scheme : std::uint8_t {
  kNone,         // a failure starts the training over
  kCheckpoint,   // it costs the work since the last checkpoint and a restart
  kSpares,       // the same with hot spare nodes: paid for, but the restart waits for no replacement
  kReplication,  // N/r families of r groups that compute the same shards
  kSpare,        // SPARe (arXiv 2603.00357): N shard types, each stacked on r groups
  kElastic,      // survivors take over the micro-batches of lost groups
};

// Where checkpoints are written. Quick tiers stand beside the shared file system, which is then written more
// seldom, for the failures that destroy what a quick tier holds.
enum class CheckpointTier : std::uint8_t {
  kShared,  // the shared file system alone: survives everything
  kLocal,   // each node's own disk: lost with the node
  kPeer,    // the memory of the node and of one other: lost with both
};

struct Protection {
  Scheme scheme = Scheme::kCheckpoint;
  int r = 1;           // redundancy: groups that hold each shard; 1 without
  int sub_shards = 1;  // parts of a type that move on their own (SPARe); elastic: micro-batches of a group,
                       // shared out whole; 1: the batch shrinks with the groups, no rounding
  int spares = 0;      // spare nodes
  int k_max = 0;       // voluntary restart after so many lost groups; 0: never, -1: the best
  int spares_per_1000 = 0;  // more of them, per 1000 computing nodes, rounded up
  CheckpointTier tier = CheckpointTier::kShared;
  bool rejoins = false;  // elastic: lost units come back without a global restart

  auto operator<=>(const Protection&) const = default;
};

// Weibull shapes that the closed forms are good for (efficiency.hpp: within 1 %); measured ones lie between.
inline constexpr double kLeastWeibullShape = 0.5;
inline constexpr double kMostWeibullShape = 2;

// When failures strike.
struct FailureLaw {
  double weibull_shape = 1;          // 1: exponential
  bool rate_falls = true;            // with the survivors; false: constant
  bool failures_in_restart = false;  // restarts can fail too
  // Of the environment, for a cycle's states depend on them: see law_in (cycle.hpp).
  double restart_mtbfs = 0;  // a restart over the MTBF of one unit; read if restarts can fail
  double burst_share = 0;    // of the events that take out units, those that take several at once
  double burst_units = 1;    // mean units of such an event, 1 or more; geometric

  bool operator==(const FailureLaw&) const = default;
};

}  // namespace trainfront::faults
