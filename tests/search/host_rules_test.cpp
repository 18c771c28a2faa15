#include "search/host_rules.hpp"

#include <doctest/doctest.h>

#include "problems.hpp"
#include "search/evaluate.hpp"
#include "search/space.hpp"
#include "search/walk.hpp"

namespace trainfront::search {

using costmodel::Rule;
using faults::CheckpointTier;
using faults::Scheme;

namespace {

faults::Protection with_tier(CheckpointTier tier) {
  return {.scheme = Scheme::kCheckpoint, .tier = tier};
}

}  // namespace

TEST_CASE("A node holds its part of a checkpoint once, and in a peer's memory four times") {
  Problem problem = small_problem();
  // 16 nodes, 1.6e12 bytes: 100e9 a node.
  const auto need = [&](CheckpointTier tier) { return host_need(problem, with_tier(tier), 16, 8, 1.6e12); };
  CHECK(need(CheckpointTier::kShared).memory_bytes() == doctest::Approx(100e9));  // written meanwhile
  CHECK(need(CheckpointTier::kPeer).memory_bytes() == doctest::Approx(400e9));
  CHECK(need(CheckpointTier::kLocal).memory_bytes() == doctest::Approx(100e9));
  CHECK(need(CheckpointTier::kLocal).disk_bytes == doctest::Approx(200e9));
  CHECK(need(CheckpointTier::kPeer).disk_bytes == 0);
  CHECK(host_need(problem, {.scheme = Scheme::kNone}, 16, 8, 1.6e12).memory_bytes() == 0);
  problem.failures.blocking_share = 1;  // the training stands still, so that nothing need be copied
  CHECK(need(CheckpointTier::kShared).memory_bytes() == 0);
}

TEST_CASE("Stacked shards keep at most the whole batch for every GPU") {
  Problem problem = small_problem();
  problem.failures.blocking_share = 1;
  problem.global_batches = {256, 1024};
  // 1024 x 4096 tokens x 16 bytes x 2 steps x 8 GPUs.
  const double all = 1024.0 * 4096 * 16 * 2 * 8;
  CHECK(host_need(problem, {.scheme = Scheme::kSpare, .r = 3}, 16, 8, 1e12).input_bytes ==
        doctest::Approx(all));
  CHECK(host_need(problem, {.scheme = Scheme::kReplication, .r = 2}, 16, 8, 1e12).input_bytes ==
        doctest::Approx(all));
  CHECK(host_need(problem, {.scheme = Scheme::kElastic}, 16, 8, 1e12).input_bytes == 0);
}

TEST_CASE("Nodes that are too small, or too little known, for what they should hold") {
  costmodel::Offer offer;
  const HostNeed need{.checkpoint_bytes = 800e9, .input_bytes = 50e9, .disk_bytes = 3e12};
  CHECK(host_rule(offer, need) == Rule::kNone);  // not known, so not refused
  offer.host_memory_bytes = 900e9;               // a tenth is left to programs
  CHECK(host_rule(offer, need) == Rule::kHostMemory);
  offer.host_memory_bytes = 1e12;
  CHECK(host_rule(offer, need) == Rule::kNone);
  offer.local_disk_bytes = 2.9e12;
  CHECK(host_rule(offer, need) == Rule::kLocalDisk);
  offer.local_disk_bytes = 3.1e12;
  CHECK(host_rule(offer, need) == Rule::kNone);
}

TEST_CASE("Storage that cannot feed r stacks refuses them, not one") {
  Problem problem = small_problem();
  const costmodel::Device device = h100_nodes().device;
  const faults::Protection four{.scheme = Scheme::kSpare, .r = 4};
  // 4 bytes a token, r times: twice the GPUs or twice r read twice as much.
  const double most = most_input_bytes_per_s(problem, four, 1024, device);
  CHECK(most > 0);
  CHECK(most_input_bytes_per_s(problem, four, 2048, device) == doctest::Approx(2 * most));
  CHECK(most_input_bytes_per_s(problem, {.scheme = Scheme::kSpare, .r = 8}, 1024, device) ==
        doctest::Approx(2 * most));
  problem.failures.node_storage_bytes_per_s = 0;
  problem.failures.storage_bytes_per_s = 1.01 * most;
  CHECK(loading_rule(problem, four, 1024, 128, device) == Rule::kNone);
  problem.failures.storage_bytes_per_s = 0.99 * most;
  CHECK(loading_rule(problem, four, 1024, 128, device) == Rule::kDataLoading);
  CHECK(loading_rule(problem, {.scheme = Scheme::kCheckpoint}, 1024, 128, device) == Rule::kNone);
  problem.failures.storage_bytes_per_s = 0;
  problem.failures.node_storage_bytes_per_s = 0.99 * most / 128;
  CHECK(loading_rule(problem, four, 1024, 128, device) == Rule::kDataLoading);
}

TEST_CASE("A sweep refuses by offer what their nodes cannot hold, and counts it") {
  Problem problem = small_problem();
  problem.layout.zero = {0};
  problem.protections = {with_tier(CheckpointTier::kShared), with_tier(CheckpointTier::kPeer)};
  // 1.3 billion parameters, 14 bytes each, on two nodes and on four: 37 and 18 GB of copies with a peer.
  problem.hardware.front().offers[0].host_memory_bytes = 30e9;
  problem.hardware.front().offers[1].host_memory_bytes = 1e12;
  const Space space(problem);
  Harvest harvest;
  walk(space, 0, space.blocks(), {}, {.brute_force = true}, harvest);
  std::uint64_t refused = 0;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const Outcome outcome = evaluate(space, index);
    if (outcome.verdict != Verdict::kIllegal || outcome.rule != Rule::kHostMemory) continue;
    ++refused;
    const Plan plan = space.decode(index);
    CHECK(plan.gpus == 16);
    CHECK(plan.offer == 0);
    CHECK(plan.protection.tier == CheckpointTier::kPeer);
  }
  CHECK(refused > 0);
  CHECK(harvest.counts.illegal[static_cast<std::size_t>(Rule::kHostMemory)] == refused);
}

}  // namespace trainfront::search
