#pragma once

#include <cstdint>

#include "costmodel/legality.hpp"
#include "costmodel/offer.hpp"
#include "faults/protection.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// What a protection asks of a node beside its GPUs.
struct HostNeed {
  double checkpoint_bytes = 0;  // of host memory: copies of the node's part of the state, and of its peer's
  double input_bytes = 0;       // of host memory: tokens of stacked shards, ready for every GPU
  double disk_bytes = 0;        // of the node's own disk
  double memory_bytes() const { return checkpoint_bytes + input_bytes; }
};

// Per node of the `nodes` that compute, each of `gpus_per_node`. `state_bytes`: of a whole checkpoint.
//
// Checkpoints that are written while the training goes on are copied to host memory first. A peer's memory
// holds its own part and the other's, each complete and in the making (Wang et al., GEMINI, SOSP 2023); a
// local disk holds the complete checkpoint and the next.
//
// Every GPU's loader keeps the tokens of r stacks, two steps of them, 16 bytes each (token and label as
// 64-bit whole numbers). A group's share of the batch being at least its r-th part, that is at most the
// whole batch: so much is charged, at the largest of the sweep, wherever shards are stacked.
HostNeed host_need(const Problem& problem, const faults::Protection& protection, std::int64_t nodes,
                   int gpus_per_node, double state_bytes);

// Share of the host's memory that is left for this; the rest is for programs. A judgement.
inline constexpr double kUsableHostMemory = 0.9;

// kHostMemory or kLocalDisk where the offer's nodes are known to be too small.
costmodel::Rule host_rule(const costmodel::Offer& offer, const HostNeed& need);

// Bytes a second that r stacks read, 4 bytes a token, did the GPUs compute at their dense peak: more than any
// plan needs. 0 without stacks.
double most_input_bytes_per_s(const Problem& problem, const faults::Protection& protection, std::int64_t gpus,
                              const costmodel::Device& device);

// kDataLoading unless the shared file system surely delivers that.
costmodel::Rule loading_rule(const Problem& problem, const faults::Protection& protection, std::int64_t gpus,
                             std::int64_t nodes, const costmodel::Device& device);

}  // namespace trainfront::search
