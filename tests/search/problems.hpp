#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "search/problem.hpp"
#include "tests/costmodel/test_device.hpp"

namespace trainfront::search {

// Problems that are small enough to evaluate every plan one by one.

inline costmodel::Hardware h100_nodes() {
  return costmodel::h100_cluster();
}

inline costmodel::Hardware a100_nodes() {
  costmodel::Hardware nodes = h100_nodes();
  nodes.device = costmodel::a100_device();
  nodes.device.id = "a100-40gb-sxm";
  nodes.device.memory_bytes = 40e9;
  nodes.device.memory_bytes_per_s = 1.555e12;
  nodes.device.profile = costmodel::data_sheet_profile(nodes.device);
  nodes.gpus_per_node = 4;
  nodes.domain_gpus = 4;
  return nodes;
}

// 1.3 billion parameters.
inline costmodel::Model small_model() {
  costmodel::Model model;
  model.name = "small";
  model.layers = 24;
  model.hidden = 2048;
  model.heads = 16;
  model.kv_heads = 16;
  model.head_dim = 128;
  model.ffn = 5504;
  model.vocab = 32000;
  return model;
}

inline costmodel::Model mixture_model() {
  costmodel::Model model = small_model();
  model.experts = 8;
  model.experts_per_token = 2;
  model.expert_ffn = 2048;
  return model;
}

// 70 billion.
inline costmodel::Model large_model() {
  costmodel::Model model;
  model.name = "large";
  model.layers = 80;
  model.hidden = 8192;
  model.heads = 64;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn = 28672;
  model.vocab = 128256;
  return model;
}

inline costmodel::Offer offer(double usd_per_node_hour, std::int64_t max_nodes = 0, double preemptions = 0) {
  costmodel::Offer rented;
  rented.usd_per_node_hour = usd_per_node_hour;
  rented.max_nodes = max_nodes;
  rented.preemptions_per_node_hour = preemptions;
  return rented;
}

inline FailureModel ordinary_failures() {
  FailureModel failures;
  failures.node_mtbf_s = 8000 * 3600.0;
  failures.detect_s = 60;
  failures.replace_s = 600;
  failures.start_fixed_s = 60;
  failures.start_per_node_s = 0.05;
  failures.storage_bytes_per_s = 100e9;
  failures.node_storage_bytes_per_s = 2e9;
  failures.blocking_fixed_s = 1;
  failures.blocking_share = 0.2;
  return failures;
}

inline Problem small_problem() {
  Problem problem;
  problem.model = small_model();
  problem.recipe.tokens = 100e9;
  problem.recipe.sequence_length = 4096;
  problem.global_batches = {256};
  problem.gpus = {16, 32};
  problem.layout.tp = {1, 2};
  problem.layout.pp = {1, 2};
  problem.layout.cp = {1};
  problem.layout.vpp = {1};
  problem.layout.zero = {0, 1};
  problem.layout.shard_group = {0};
  problem.layout.micro_batch = {1, 2};
  problem.layout.recompute = {costmodel::Recompute::kNone};
  problem.layout.schedule = {costmodel::Schedule::k1f1b};
  problem.hardware = {{h100_nodes(), {offer(30), offer(24)}}};
  problem.protections = {{.scheme = faults::Scheme::kCheckpoint}};
  problem.failures = ordinary_failures();
  return problem;
}

// A problem drawn at random, some thousand plans: every kind of choice, protection, offer and misfit comes
// up.
class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : random_{seed} {}

  Problem next() {
    using faults::Scheme;
    Problem problem;
    const bool mixture = one_in(4);
    problem.model = mixture ? mixture_model() : one_in(3) ? large_model() : small_model();
    problem.recipe.sequence_length = pick<int>({2048, 4096});
    problem.recipe.tokens = pick<double>({1e9, 50e9, 2e12});
    if (one_in(3)) problem.recipe.critical_batch_tokens = 4e6;
    problem.global_batches = one_in(2) ? std::vector<std::int64_t>{128} : std::vector<std::int64_t>{96, 512};
    problem.gpus = pick<std::vector<std::int64_t>>({{8, 24}, {64}, {16, 128}, {12, 256}});
    problem.layout.tp = pick<std::vector<int>>({{1, 2}, {4}, {2, 8}, {3, 4}});
    problem.layout.pp = pick<std::vector<int>>({{1}, {1, 4}, {2, 8}});
    problem.layout.cp = pick<std::vector<int>>({{1}, {1, 2}});
    problem.layout.vpp = pick<std::vector<int>>({{1}, {1, 2}, {2}});
    problem.layout.ep = mixture ? pick<std::vector<int>>({{1}, {2, 8}}) : std::vector<int>{1};
    problem.layout.zero = pick<std::vector<int>>({{0}, {1}, {0, 1}, {2, 3}});
    problem.layout.shard_group = pick<std::vector<int>>({{0}, {0, 8}, {4}});
    problem.layout.micro_batch = pick<std::vector<int>>({{1}, {1, 2}});
    problem.layout.recompute = pick<std::vector<costmodel::Recompute>>(
        {{costmodel::Recompute::kNone}, {costmodel::Recompute::kNone, costmodel::Recompute::kFull}});
    if (one_in(2)) problem.layout.schedule = {costmodel::Schedule::k1f1b, costmodel::Schedule::kInterleaved};
    if (one_in(5))
      problem.layout.framework = {costmodel::Framework::kMegatron, costmodel::Framework::kTorchtitan};

    problem.hardware = {{h100_nodes(), offers()}};
    if (one_in(2)) problem.hardware.push_back({a100_nodes(), offers()});
    using Tier = faults::CheckpointTier;
    const std::vector<faults::Protection> all = {
        {.scheme = Scheme::kNone},
        {.scheme = Scheme::kCheckpoint},
        {.scheme = Scheme::kSpares, .spares = 1},
        {.scheme = Scheme::kReplication, .r = 2},
        {.scheme = Scheme::kSpare, .r = 2},
        {.scheme = Scheme::kSpare, .r = 3, .sub_shards = 4, .k_max = -1},
        {.scheme = Scheme::kElastic, .spares = 2, .k_max = 1},
        {.scheme = Scheme::kElastic, .sub_shards = 4, .k_max = -1},
        {.scheme = Scheme::kElastic, .rejoins = true},
        {.scheme = Scheme::kElastic, .spares = 3, .tier = Tier::kPeer, .rejoins = true},
        {.scheme = Scheme::kCheckpoint, .tier = Tier::kLocal},
        {.scheme = Scheme::kCheckpoint, .tier = Tier::kPeer},
        {.scheme = Scheme::kSpare, .r = 2, .k_max = -1, .tier = Tier::kPeer},
    };
    for (const auto& protection : all)
      if (one_in(2)) problem.protections.push_back(protection);
    for (std::uint64_t more = below(4); more-- > 0;) {
      const faults::Protection drawn = protection();
      if (std::find(problem.protections.begin(), problem.protections.end(), drawn) ==
          problem.protections.end())
        problem.protections.push_back(drawn);
    }
    if (problem.protections.empty()) problem.protections.push_back(all[1]);

    problem.failures = ordinary_failures();
    // From hopeless to never: the first makes many plans that end in no time that a double holds.
    problem.failures.node_mtbf_s =
        pick<double>({1500, 20e3, 4e5, 8000 * 3600.0, std::numeric_limits<double>::infinity()});
    problem.failures.law.failures_in_restart = one_in(3);
    problem.failures.law.rate_falls = !one_in(3);
    problem.failures.local = {1e9, 0.2};
    problem.failures.peer = {10e9, 0.05};
    problem.failures.node_loss_share = pick<double>({0, 0.77, 1});
    problem.failures.repair_s = pick<double>({60, 3600, 1e6});
    if (one_in(4))
      problem.islands = {{}, {.count = 2, .inner_steps = 50, .wan_bytes_per_s = 1e9, .rtt_s = 0.05}};
    if (one_in(6)) problem.failures.storage_bytes_per_s = 1e8;
    if (one_in(3)) problem.goal.probability = pick<double>({0.5, 0.75, 0.9, 0.99});
    return problem;
  }

  // next(), now and then with failures that are not exponential. That costs: tables of one plan fit their
  // law.
  Problem next_of_any_law() {
    Problem problem = next();
    if (one_in(10)) problem.failures.law.weibull_shape = pick<double>({0.78, 1.3, 2});
    return problem;
  }

  bool one_in(int n) { return random_() % static_cast<std::uint64_t>(n) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  template <class T>
  T pick(const std::vector<T>& values) {
    return values[random_() % values.size()];
  }

  // Any that a sweep file can ask for.
  faults::Protection protection() {
    faults::Protection protection;
    protection.scheme = pick<faults::Scheme>({faults::Scheme::kCheckpoint, faults::Scheme::kSpares,
                                              faults::Scheme::kReplication, faults::Scheme::kSpare,
                                              faults::Scheme::kElastic, faults::Scheme::kElastic});
    protection.tier = pick<faults::CheckpointTier>(
        {faults::CheckpointTier::kShared, faults::CheckpointTier::kLocal, faults::CheckpointTier::kPeer});
    protection.spares = pick<int>({0, 0, 1, 4});
    protection.spares_per_1000 = pick<int>({0, 0, 30});
    if (protection.scheme == faults::Scheme::kReplication || protection.scheme == faults::Scheme::kSpare)
      protection.r = pick<int>({2, 3, 4, 8});
    if (protection.scheme != faults::Scheme::kSpare && protection.scheme != faults::Scheme::kElastic)
      return protection;
    protection.rejoins = protection.scheme == faults::Scheme::kElastic && one_in(4);
    if (protection.rejoins) return protection;
    protection.sub_shards = pick<int>({1, 1, 2, 4, 16});
    protection.k_max = pick<int>({-1, 0, 1, 2, 3, 5, 9});
    return protection;
  }

  std::vector<costmodel::Offer> offers() {
    std::vector<costmodel::Offer> all;
    const int count = 1 + static_cast<int>(random_() % 4);
    for (int i = 0; i < count; ++i) {
      // Equal prices and equal failure rates come up often: ties.
      all.push_back(offer(pick<double>({0, 16, 16, 24, 24.000000000000004}),
                          pick<std::int64_t>({0, 0, 4, 17}), pick<double>({0, 0, 0.01, 0.5})));
      all.back().preempted_together = pick<double>({1, 1, 3, 11.5});
      all.back().transfer_usd = pick<double>({0, 0, 0, 207, 1e6});
      // Known sizes of nodes: too small for a peer's copies, for all copies of the large model, or for none.
      all.back().host_memory_bytes = pick<double>({0, 0, 25e9, 200e9, 2e12});
      all.back().local_disk_bytes = pick<double>({0, 20e9, 1e13});
    }
    return all;
  }

  std::mt19937_64 random_;
};

}  // namespace trainfront::search
