#include "costmodel/data_parallel_time.hpp"

#include <algorithm>

#include "costmodel/norm_sum.hpp"
#include "costmodel/segment.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kParameterBytes = 2;  // as gathered: bf16

ReplicaGroup replicas(std::int64_t ranks, std::int64_t stride, std::int64_t shard, const Layout& layout,
                      std::int64_t dp, int domain_gpus) {
  ReplicaGroup group;
  group.ranks = std::max<std::int64_t>(1, ranks);
  group.shard = std::clamp<std::int64_t>(shard, 1, group.ranks);
  const auto size = [](std::int64_t n) { return static_cast<int>(n); };
  // A job that one domain holds has no other.
  const bool in_one = layout.group_gpus() * dp <= domain_gpus;
  const int segment = segment_gpus(layout, domain_gpus);
  const auto place = [&](std::int64_t apart, std::int64_t members) {
    return in_one ? Placement{size(members), 1, size(members)}
                  : place_group(size(apart), size(members), segment);
  };
  group.all = place(stride, group.ranks);
  if (group.shard == group.ranks) {
    group.within_shard = group.all;
  } else {
    group.within_shard = place(stride, group.shard);
    group.across_shards = place(stride * group.shard, group.ranks / group.shard);
  }
  return group;
}

}  // namespace

double exposed_after(double total_s, double buckets, double compute_s, double hidden) {
  const double each = total_s / buckets;
  return each + (buckets - 1) * std::max(0.0, each - hidden * compute_s / buckets);
}

double exposed_gathers(double communication_s, double units, double compute_s, double unhidden, double norm) {
  const double gather = communication_s / units;
  const double compute = compute_s / units;
  const double beyond = norm > 0 ? norm_sum(gather, compute, norm) - compute : gather - compute;
  const double prefetched = gather + (units - 1) * std::max(0.0, beyond);
  return unhidden * communication_s + (1 - unhidden) * prefetched;
}

ReplicaGroup dense_replicas(const Layout& layout, std::int64_t dp, int domain_gpus) {
  const std::int64_t ranks = dp * layout.cp;
  return replicas(ranks, layout.tp, layout.shard_group > 0 ? layout.shard_group : ranks, layout, dp,
                  domain_gpus);
}

ReplicaGroup expert_replicas(const Layout& layout, std::int64_t dp, int domain_gpus) {
  const std::int64_t grid = std::int64_t{layout.ep} * layout.etp;
  const std::int64_t ranks = std::max<std::int64_t>(1, dp * layout.cp * layout.tp / grid);
  const std::int64_t shard =
      layout.shard_group > 0 ? std::int64_t{layout.shard_group} * layout.tp / grid : ranks;
  return replicas(ranks, grid, shard, layout, dp, domain_gpus);
}

ReplicaRates replica_rates(const ReplicaGroup& group, double parameters, int zero, const Hardware& hardware,
                           const FrameworkProfile& framework) {
  ReplicaRates rates;
  if (group.ranks <= 1 || parameters <= 0) return rates;
  const double bytes = framework.gradient_bytes;
  const double full_bucket =
      std::max(framework.bucket_bytes, framework.bucket_bytes_per_rank * static_cast<double>(group.ranks)) /
      bytes;
  rates.bucket = std::min(full_bucket, parameters);
  const auto time = [&](Collective collective, double size, const Placement& placement) {
    const Timed timed = collective_time(hardware, collective, size, placement);
    rates.evidence = worst(rates.evidence, timed.evidence);
    return timed.seconds / rates.bucket;
  };
  if (zero == 0) {
    rates.reduce_s = time(Collective::kAllReduce, bytes * rates.bucket, group.all);
    return rates;
  }
  if (group.shard > 1) {
    rates.reduce_s = time(Collective::kReduceScatter, bytes * rates.bucket, group.within_shard);
    rates.gather_s = time(Collective::kAllGather, kParameterBytes * rates.bucket, group.within_shard);
  }
  if (group.shard < group.ranks) {
    const double shard_bytes = bytes * rates.bucket / static_cast<double>(group.shard);
    rates.reduce_s += time(Collective::kAllReduce, shard_bytes, group.across_shards);
  }
  return rates;
}

}  // namespace trainfront::costmodel
