#pragma once

#include <cstdint>
#include <numeric>

namespace trainfront::faults {

// What goes out together when one node fails: a group over whole nodes, or all groups that share the node.
// Where groups straddle nodes (12 GPUs on nodes of 8) the smallest block of whole nodes and whole groups is
// taken, which overstates the loss.
struct FailingUnit {
  std::int64_t units = 0;  // of the whole layout; the N of the survival forms
  std::int64_t groups_per_unit = 1;
  std::int64_t nodes_per_unit = 1;  // a unit fails this much more often than a node

  bool operator==(const FailingUnit&) const = default;
};

// All arguments >= 1; else zero units.
constexpr FailingUnit failing_unit(std::int64_t groups, std::int64_t group_gpus, std::int64_t gpus_per_node) {
  if (groups < 1 || group_gpus < 1 || gpus_per_node < 1) return {};
  const std::int64_t block_gpus = std::lcm(group_gpus, gpus_per_node);
  FailingUnit unit;
  unit.groups_per_unit = block_gpus / group_gpus;
  unit.nodes_per_unit = block_gpus / gpus_per_node;
  if (unit.groups_per_unit > groups) {  // less than one block: all of it
    unit.groups_per_unit = groups;
    unit.nodes_per_unit = (groups * group_gpus + gpus_per_node - 1) / gpus_per_node;
  }
  unit.units = (groups + unit.groups_per_unit - 1) / unit.groups_per_unit;
  return unit;
}

// Units that hold the same part of the training state, where it is sharded over `shard_groups` groups (1:
// every group holds all of it; N: ZeRO over all of data parallelism). 1: a lost unit takes the only copy with
// it.
constexpr std::int64_t state_copies(const FailingUnit& unit, std::int64_t groups, std::int64_t shard_groups) {
  if (unit.units < 1 || shard_groups < 1 || shard_groups > groups) return 0;
  if (shard_groups <= unit.groups_per_unit) return unit.units;
  return groups / shard_groups;
}

}  // namespace trainfront::faults
