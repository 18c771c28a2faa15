#include "costmodel/data_sheet_limits.hpp"

#include <algorithm>

#include "costmodel/link_passes.hpp"

namespace trainfront::costmodel {
namespace {

double over(double work, double rate) {
  return rate > 0 ? work / rate : 0;
}

}  // namespace

double least_seconds(const Device& device, const GemmSample& sample) {
  // A device without fp8 units computes in bf16.
  const double peak = std::max(dense_peak_flops_per_s(device, sample.precision), device.bf16_flops_per_s);
  return over(2 * sample.m * sample.n * sample.k, peak);
}

double least_seconds(const Device& device, const AttentionSample& sample) {
  const AttentionShape& shape = sample.shape;
  const double pairs =
      shape.causal ? shape.queries * std::min(shape.queries, shape.keys) / 2 : shape.queries * shape.keys;
  // Of the five products of a backward pass the scores may be kept: four at least.
  const double flops = 2 * shape.batch * shape.heads * pairs * (shape.qk_dim + shape.value_dim);
  return over(sample.backward ? 2 * flops : flops, device.bf16_flops_per_s);
}

double least_seconds(const Device& device, const MemoryBoundSample& sample) {
  return std::max(over(sample.bytes, kCacheRate * device.memory_bytes_per_s),
                  over(sample.bytes - kCacheBytes, device.memory_bytes_per_s));
}

double least_seconds(const Device& device, const CollectiveSample& sample, double domain_bytes_per_s) {
  const double ranks = sample.placement.ranks, domains = sample.placement.domains;
  if (sample.placement.domains <= 1) {
    // A switch that adds spares all_reduce its second pass.
    return over(std::min(1.0, link_passes(sample.collective, ranks)) * sample.bytes, device.link_bytes_per_s);
  }
  const double per_domain = sample.placement.per_domain;
  double leaving = sample.bytes;  // one domain; so of all_reduce, which switches may add up
  if (sample.collective == Collective::kAllGather || sample.collective == Collective::kReduceScatter)
    leaving *= (domains - 1) / domains;
  if (sample.collective == Collective::kAllToAll) leaving *= per_domain * (ranks - per_domain) / ranks;
  return over(leaving, domain_bytes_per_s);
}

}  // namespace trainfront::costmodel
