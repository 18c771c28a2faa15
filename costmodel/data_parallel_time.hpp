#pragma once

#include <cstdint>

#include "costmodel/collective_time.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"

namespace trainfront::costmodel {

// Two communications one after the other behind compute: `total_s` of communication in `buckets` equal
// pieces, the i-th ready when i/buckets of `compute_s` is done. Returns what lasts beyond the compute;
// `hidden` is the share of the compute that may cover communication. Exact for equal buckets: r + (J-1)
// max(0, r - compute/J).
double exposed_after(double total_s, double buckets, double compute_s, double hidden);

// Fully sharded parameters (ZeRO-3, FSDP), `units` equal blocks: each is gathered before it computes, one
// ahead. Returns what gathering (and, backward, scattering) adds to the compute; `unhidden` is the share of
// communication that prefetch fails to hide. A block's gather and the compute beside it take
// (gather^norm + compute^norm)^(1/norm) together; norm 0 stands for the larger of both.
double exposed_gathers(double communication_s, double units, double compute_s, double unhidden, double norm);

// Ranks that hold copies of the same parameters, and how ZeRO shards over them.
struct ReplicaGroup {
  std::int64_t ranks = 1;  // copies
  std::int64_t shard = 1;  // ranks that the state is sharded over; divides ranks
  Placement all, within_shard, across_shards;
};
// Dense parameters: cp x dp ranks, tp apart. Expert parameters: what is left of the expert grid.
ReplicaGroup dense_replicas(const Layout& layout, std::int64_t dp, int domain_gpus);
ReplicaGroup expert_replicas(const Layout& layout, std::int64_t dp, int domain_gpus);

// Seconds per parameter, at the size of a bucket.
struct ReplicaRates {
  double reduce_s = 0;  // gradients: all-reduce, or reduce-scatter within the shard and all-reduce across
  double gather_s = 0;  // parameters, within the shard; 0 when nothing is sharded
  double bucket = 1;    // parameters
  Evidence evidence = Evidence::kCalibrated;
};
ReplicaRates replica_rates(const ReplicaGroup& group, double parameters, int zero, const Hardware& hardware,
                           const FrameworkProfile& framework);

}  // namespace trainfront::costmodel
