#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "costmodel/operations.hpp"

namespace trainfront::costmodel {

// What a GPU spends a pass's time on. kHost: waiting for the host to launch kernels.
enum class Part : std::uint8_t {
  kGemm,
  kAttention,
  kMemoryBound,
  kTensorParallel,
  kContextParallel,
  kExpertParallel,
  kHost
};
inline constexpr int kParts = 7;

struct PartTimes {
  std::array<double, kParts> seconds{};

  double& operator[](Part part) { return seconds[static_cast<std::size_t>(part)]; }
  double operator[](Part part) const { return seconds[static_cast<std::size_t>(part)]; }
  double total() const;
  void add(const PartTimes& other, double times = 1);
};

// One micro-batch through one block, by pass.
struct BlockTime {
  std::array<PartTimes, kPasses> pass;
  Evidence evidence = Evidence::kCalibrated;

  PartTimes& operator[](Pass which) { return pass[static_cast<std::size_t>(which)]; }
  const PartTimes& operator[](Pass which) const { return pass[static_cast<std::size_t>(which)]; }
  void add(const BlockTime& other, double times = 1);
};

// Where the groups of a layout sit: tensor ranks are innermost, then context, data and pipeline; the expert
// grid is expert tensor, expert, expert data, pipeline (Megatron-LM, parallel_state.py).
struct GroupPlacements {
  std::array<Placement, kGroups> by_group;

  const Placement& operator[](Group group) const { return by_group[static_cast<std::size_t>(group)]; }
};
GroupPlacements place_groups(const Layout& layout, int domain_gpus);

// The operations' times, with what the framework adds and hides. Kernels of one pass run one after another;
// communication adds its exposed share. No host floor, no recomputation.
BlockTime price_operations(const Operations& operations, const GroupPlacements& placements,
                           const Hardware& hardware, const FrameworkProfile& framework);

// The forward that the backward runs again, added to the input gradient's pass; `modules` is the forward of
// modules that the layout chooses, if it does.
void add_recomputation(BlockTime& time, Recompute recompute, const FrameworkProfile& framework);
void add_recomputation(BlockTime& time, const BlockTime& modules);

// Raises the block to the least time that the host needs to launch it. layout.dp counts only under a profile
// whose floor depends on the number of nodes (host_pipelined_s).
void add_host_floor(BlockTime& time, Block block, const Layout& layout, const Hardware& hardware,
                    const FrameworkProfile& framework);

// Every kind of block that a layout has, per micro-batch.
struct BlockTimes {
  BlockTime dense, moe, embedding, head, mtp;
  BlockTime micro_batch;  // what a stage's micro-batch costs beside its blocks
};
BlockTimes block_times(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework);

}  // namespace trainfront::costmodel
