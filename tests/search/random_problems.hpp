#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "problems.hpp"
#include "search/layout_list.hpp"

namespace trainfront::search {

// A problem drawn at random, some thousand plans: every kind of choice, protection, offer and misfit comes
// up.
class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : random_{seed} {}

  // Choices that contradict each other leave no layout; a few such problems are enough.
  Problem next() {
    Problem problem = draw();
    while (has_no_layout(problem) && !one_in(8)) problem = draw();
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

  // The rest of what a sweep file may say: now and then, so that problems stay small and most plans legal.

  void vary_training(Problem& problem) {
    if (one_in(5)) problem.recipe.precision = costmodel::Precision::kFp8;
    if (one_in(8)) problem.recipe.optimizer = costmodel::Optimizer::kSgd;
    if (one_in(6))
      problem.global_batches = pick<std::vector<std::int64_t>>({{1}, {64, 65}, {1024, 1536, 3072}});
    if (one_in(8)) problem.gpus = pick<std::vector<std::int64_t>>({{1, 2}, {4}, {8, 20, 40}, {512, 640}});
    if (one_in(10)) problem.model.mtp_blocks = 1;
    if (one_in(10)) problem.model.tied_embeddings = true;
    if (one_in(10)) {
      problem.model.sliding_window = 1024;
      problem.model.full_attention_every = 4;
    }
    if (!problem.model.is_moe()) return;
    if (one_in(3)) problem.model.shared_expert_ffn = 2048;
    if (one_in(3)) problem.model.dense_layers = 2;
    if (one_in(3)) problem.recipe.expert_imbalance = 1.3;
  }

  void vary_layouts(Problem& problem) {
    using costmodel::Framework;
    using costmodel::Recompute;
    using costmodel::Schedule;
    LayoutChoices& layout = problem.layout;
    if (one_in(8)) layout.framework = {pick<Framework>({Framework::kTorchtitan, Framework::kDeepspeed})};
    if (one_in(5)) layout.schedule = {pick<Schedule>({Schedule::kGpipe, Schedule::kZeroBubble})};
    if (one_in(6)) {
      layout.recompute = {Recompute::kSelective};
      if (one_in(2)) layout.recompute_modules.emplace();
    }
    if (one_in(3)) {
      using enum costmodel::ContextExchange;
      layout.cp_type = pick<std::vector<costmodel::ContextExchange>>({{}, {kRing, kAllToAll}, {kAllGather}});
    }
    if (one_in(4)) layout.sp = {one_in(2)};
    if (problem.model.is_moe() && one_in(2)) layout.etp = pick<std::vector<int>>({{1}, {1, 2}});
    if (one_in(8)) layout.micro_batch = {4};
    // "auto" of one key.
    std::vector<int>* const keys[] = {&layout.tp, &layout.pp, &layout.vpp, &layout.shard_group, &layout.cp};
    const auto key = static_cast<std::size_t>(below(16));
    if (key < std::size(keys)) keys[key]->clear();
  }

  void vary_hardware(Problem& problem) {
    if (one_in(6)) {
      // A scale-up domain of many nodes.
      costmodel::Hardware racks = h100_nodes();
      racks.gpus_per_node = 4;
      racks.domain_gpus = 72;
      problem.hardware.push_back({racks, offers()});
    }
    for (HardwareClass& kind : problem.hardware) {
      if (one_in(4)) kind.node_mtbf_s = pick<double>({1500, 2e4, 3e5, 2e7});
      costmodel::Network& network = kind.hardware.network;
      if (one_in(8)) network.nic_bytes_per_s = 3e9;
      if (one_in(8)) network.latency_scale = 6;
      if (one_in(12)) network.delay_s = 1e-4;
      if (one_in(20)) network.rdma = false;
      if (one_in(12)) kind.hardware.domain_gpus = 2;
    }
  }

  void vary_failures(FailureModel& failures) {
    failures.detect_s = pick<double>({60, 60, 0, 1200});
    failures.replace_s = pick<double>({600, 600, 0, 20e3});
    failures.start_fixed_s = pick<double>({60, 0, 900});
    failures.start_per_node_s = pick<double>({0.05, 0, 5});
    if (one_in(6)) failures.storage_bytes_per_s = 0;
    if (one_in(6)) failures.node_storage_bytes_per_s = pick<double>({0, 1e8});
    failures.blocking_fixed_s = pick<double>({1, 1, 0, 60});
    failures.blocking_share = pick<double>({0.2, 0, 1});
    if (one_in(4)) failures.local = pick<QuickTier>({{0, 1}, {2e8, 1}, {1e10, 0}});
    if (one_in(4)) failures.peer = pick<QuickTier>({{0, 0}, {1e9, 1}});
    if (one_in(4)) failures.controller_s = pick<double>({0, 30});
    if (one_in(4)) failures.shrink_s = pick<double>({0, 30});
  }

  std::vector<costmodel::Islands> islands() {
    std::vector<costmodel::Islands> all;
    for (const int count : pick<std::vector<int>>({{1, 4}, {2}, {2, 3}}))
      all.push_back({.count = count,
                     .inner_steps = count == 1 ? 1 : pick<int>({1, 10, 500}),
                     .wan_bytes_per_s = count == 1 ? 0 : pick<double>({1e7, 1e10}),
                     .rtt_s = count == 1 ? 0 : pick<double>({0.001, 0.3}),
                     .sync_bits = pick<int>({4, 32})});
    return all;
  }

  Problem draw() {
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
    vary_training(problem);
    vary_layouts(problem);
    vary_hardware(problem);
    vary_failures(problem.failures);
    if (one_in(10)) problem.islands = islands();
    return problem;
  }

  static bool has_no_layout(const Problem& problem) {
    return std::all_of(problem.hardware.begin(), problem.hardware.end(), [&](const HardwareClass& kind) {
      return list_layouts(problem, kind.hardware).size() == 0;
    });
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
      protection.r = pick<int>({2, 3, 4, 8, 20});
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
