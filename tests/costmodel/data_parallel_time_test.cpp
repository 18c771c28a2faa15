#include "costmodel/data_parallel_time.hpp"

#include <doctest/doctest.h>

#include "costmodel/outer_sync.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

TEST_CASE("four buckets behind compute: the last one is exposed, and what each lacks of cover") {
  CHECK(exposed_after(4, 4, 8, 1) == 1);    // 1 s each, 2 s of compute for each
  CHECK(exposed_after(8, 4, 4, 1) == 5);    // 2 s each, 1 s of cover: 2 + 3 x 1
  CHECK(exposed_after(8, 4, 4, 0) == 8);    // nothing hides
  CHECK(exposed_after(8, 1, 100, 1) == 8);  // one bucket is only ready at the end
}

TEST_CASE("prefetched gathers cost the first, and what later ones exceed the compute by") {
  CHECK(exposed_gathers(4, 4, 8, 0, 0) == 1);
  CHECK(exposed_gathers(8, 4, 4, 0, 0) == 5);
  CHECK(exposed_gathers(8, 4, 1e9, 1, 0) == 8);
  CHECK(exposed_gathers(8, 4, 1e9, 0.5, 0) == 5);
  // Norm 2: gathers of 3 beside compute of 4 take 5 together, 1 more than the compute; the first is bare.
  CHECK(exposed_gathers(12, 4, 16, 0, 2) == near(3 + 3 * 1));
  CHECK(exposed_gathers(0, 4, 16, 0, 2) == 0);
}

TEST_CASE("dense copies lie over cp x dp, experts over what their grid leaves") {
  Layout layout;
  layout.tp = 4;
  layout.cp = 2;
  layout.ep = 8;
  layout.etp = 1;
  const ReplicaGroup dense = dense_replicas(layout, 16, 8);
  CHECK(dense.ranks == 32);
  CHECK(dense.shard == 32);
  CHECK(dense.all == place_group(4, 32, 8));
  const ReplicaGroup expert = expert_replicas(layout, 16, 8);
  CHECK(expert.ranks == 16);  // 4 x 2 x 16 GPUs a stage over a grid of 8
  layout.shard_group = 8;
  CHECK(dense_replicas(layout, 16, 8).shard == 8);
  CHECK(dense_replicas(layout, 16, 8).across_shards.ranks == 4);
}

TEST_CASE("rates: all-reduce without ZeRO, scatter and gather with it, both when sharded in groups") {
  const Hardware hardware = h100_cluster();
  FrameworkProfile framework;
  framework.gradient_bytes = 4;
  framework.bucket_bytes = 400e6;
  framework.bucket_bytes_per_rank = 0;
  Layout layout;
  const ReplicaGroup group = dense_replicas(layout, 64, 8);
  const ReplicaRates plain = replica_rates(group, 1e9, 0, hardware, framework);
  CHECK(plain.bucket == 100e6);
  CHECK(plain.gather_s == 0);
  CHECK(plain.reduce_s ==
        collective_time(hardware, Collective::kAllReduce, 400e6, place_group(1, 64, 8)).seconds / 100e6);
  const ReplicaRates sharded = replica_rates(group, 1e9, 1, hardware, framework);
  CHECK(sharded.gather_s ==
        collective_time(hardware, Collective::kAllGather, 200e6, place_group(1, 64, 8)).seconds / 100e6);
  layout.shard_group = 8;
  const ReplicaRates hybrid = replica_rates(dense_replicas(layout, 64, 8), 1e9, 3, hardware, framework);
  CHECK(hybrid.gather_s < sharded.gather_s);
  CHECK(replica_rates(dense_replicas(layout, 1, 8), 1e9, 1, hardware, framework).reduce_s == 0);
}

TEST_CASE("outer synchronisation: two islands exchange all parameters every H steps") {
  Islands islands;
  CHECK(outer_sync_per_step_s(islands, 1e9) == 0);
  islands = {.count = 2, .inner_steps = 100, .wan_bytes_per_s = 1e9, .rtt_s = 0.1, .sync_bits = 8};
  // 1e9 parameters of one byte at 1 GB/s, 2 (2-1)/2 of them, and two hops of 0.05 s; over 100 steps.
  CHECK(outer_sync_per_step_s(islands, 1e9) == near(0.011));
  islands.count = 4;
  CHECK(outer_sync_per_step_s(islands, 1e9) == near((1.5 + 0.3) / 100));
}

}  // namespace
}  // namespace trainfront::costmodel
