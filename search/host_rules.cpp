#include "search/host_rules.hpp"

#include <algorithm>
#include <limits>

#include "costmodel/flops.hpp"
#include "search/environment.hpp"

namespace trainfront::search {
namespace {

using costmodel::Rule;
using faults::CheckpointTier;
using faults::Scheme;

constexpr double kBufferedBytesPerToken = 16;
constexpr double kBufferedSteps = 2;
constexpr double kReadBytesPerToken = 4;

bool stacks_shards(const faults::Protection& protection) {
  return protection.r > 1;
}

double or_unlimited(double bytes_per_s) {
  return bytes_per_s > 0 ? bytes_per_s : std::numeric_limits<double>::infinity();
}

}  // namespace

HostNeed host_need(const Problem& problem, const faults::Protection& protection, std::int64_t nodes,
                   int gpus_per_node, double state_bytes) {
  HostNeed need;
  const FailureModel& failures = problem.failures;
  if (protection.scheme != Scheme::kNone) {
    const double part_bytes = state_bytes / static_cast<double>(nodes);
    const bool staged = failures.blocking_share < 1 ||
                        (protection.tier == CheckpointTier::kLocal && failures.local.blocking_share < 1);
    need.checkpoint_bytes = staged ? part_bytes : 0;
    if (protection.tier == CheckpointTier::kPeer) need.checkpoint_bytes = 4 * part_bytes;
    if (protection.tier == CheckpointTier::kLocal) need.disk_bytes = 2 * part_bytes;
  }
  if (stacks_shards(protection) && !problem.global_batches.empty()) {
    const double batch_tokens =
        static_cast<double>(problem.global_batches.back()) * problem.recipe.sequence_length;
    need.input_bytes = gpus_per_node * batch_tokens * kBufferedBytesPerToken * kBufferedSteps;
  }
  return need;
}

Rule host_rule(const costmodel::Offer& offer, const HostNeed& need) {
  if (offer.host_memory_bytes > 0 && need.memory_bytes() > kUsableHostMemory * offer.host_memory_bytes)
    return Rule::kHostMemory;
  if (offer.local_disk_bytes > 0 && need.disk_bytes > offer.local_disk_bytes) return Rule::kLocalDisk;
  return Rule::kNone;
}

double most_input_bytes_per_s(const Problem& problem, const faults::Protection& protection, std::int64_t gpus,
                              const costmodel::Device& device) {
  if (!stacks_shards(protection)) return 0;
  const double flops = costmodel::training_flops_per_token(problem.model, problem.recipe.sequence_length,
                                                           costmodel::AttentionCount::kCausal)
                           .total();
  const double peak = costmodel::dense_peak_flops_per_s(device, problem.recipe.precision);
  return protection.r * kReadBytesPerToken * static_cast<double>(gpus) * peak / flops;
}

Rule loading_rule(const Problem& problem, const faults::Protection& protection, std::int64_t gpus,
                  std::int64_t nodes, const costmodel::Device& device) {
  const double storage =
      std::min(or_unlimited(problem.failures.storage_bytes_per_s),
               static_cast<double>(nodes) * or_unlimited(problem.failures.node_storage_bytes_per_s));
  const bool keeps_up = most_input_bytes_per_s(problem, protection, gpus, device) <= storage;
  return keeps_up ? Rule::kNone : Rule::kDataLoading;
}

}  // namespace trainfront::search
