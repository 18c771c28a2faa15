#include "search/environment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "problems.hpp"
#include "tests/near.hpp"

namespace trainfront::search {

using costmodel::Rule;
using faults::Scheme;

TEST_CASE("Steps are tokens over batch, and more with a critical batch") {
  costmodel::Recipe recipe;
  recipe.tokens = 15.6e12;
  recipe.sequence_length = 8192;
  // 2048 sequences are 16,777,216 tokens.
  CHECK(steps_needed(recipe, 2048) == doctest::Approx(929'832.46));
  recipe.critical_batch_tokens = 16'777'216;
  CHECK(steps_needed(recipe, 2048) == doctest::Approx(2 * 929'832.46));
  CHECK(steps_needed(recipe, 1024) == doctest::Approx(1.5 * 2 * 929'832.46));
}

TEST_CASE("A restart is found, replaced, started and loaded; hot spares spare the replacement") {
  const FailureModel failures = ordinary_failures();
  // 100 nodes: storage gives min(100e9, 100 x 2e9) = 100e9 B/s, so 5e12 bytes take 50 s.
  const auto checkpoint = recovery_costs(failures, {.scheme = Scheme::kCheckpoint}, 100, 5e12);
  CHECK(checkpoint.restart_s == doctest::Approx(60 + 600 + 60 + 0.05 * 100 + 50));
  CHECK(checkpoint.save_s == doctest::Approx(1 + 0.2 * 50));
  const auto spares = recovery_costs(failures, {.scheme = Scheme::kSpares, .spares = 2}, 100, 5e12);
  CHECK(spares.restart_s == doctest::Approx(checkpoint.restart_s - 600));
  // 10 nodes reach 20e9 B/s only.
  CHECK(recovery_costs(failures, {.scheme = Scheme::kCheckpoint}, 10, 5e12).save_s ==
        doctest::Approx(1 + 0.2 * 250));
  // Without protection nothing is saved or loaded.
  const auto none = recovery_costs(failures, {.scheme = Scheme::kNone}, 100, 5e12);
  CHECK(none.save_s == 0);
  CHECK(none.restart_s == doctest::Approx(60 + 600 + 60 + 5));
}

TEST_CASE("Hot spares save the wait for a replacement as long as they last") {
  const FailureModel failures = ordinary_failures();
  const faults::FailingUnit unit{.units = 2000, .groups_per_unit = 1, .nodes_per_unit = 1};
  const auto restart_s = [&](int spares, const NodeFailures& node) {
    const faults::Protection protection{.scheme = Scheme::kSpares, .spares = spares};
    const auto costs = recovery_costs(failures, protection, 2000, 5e12);
    const double all_s = environment_in(failures, protection, costs, node, unit, 2000).restart_s;
    CHECK(all_s <= costs.restart_s + most_wait_s(failures, protection, 2000));
    return all_s - costs.restart_s;
  };
  // 2000 nodes, 600 s to replace one: m = 0.042 others are being replaced when one fails. With one spare
  // that wait is 600 s (1 - (1 - e^-m)/m).
  const NodeFailures rare{1 / 28.8e6, 0, 1};
  const double m = 2000 * 600 / 28.8e6;
  CHECK(restart_s(1, rare) == doctest::Approx(600 * (1 + std::expm1(-m) / m)));
  CHECK(restart_s(8, rare) < 1e-6);
  // Preemptions that take 20 nodes at once need more.
  const NodeFailures spot{1 / 28.8e6, 1e-6, 20};
  CHECK(restart_s(1, spot) > 0.9 * 600);
  CHECK(restart_s(20, spot) > 0.3 * 600);
  CHECK(restart_s(200, spot) < 0.05 * 600);
  CHECK(most_wait_s(failures, {.scheme = Scheme::kCheckpoint}, 2000) == 0);
}

TEST_CASE("A checkpoint holds 14 bytes a parameter with Adam") {
  // 7 billion: Llama-2-7B has 6,738,415,616 parameters (its own card).
  costmodel::Model model = small_model();
  model.layers = 32;
  model.hidden = 4096;
  model.heads = 32;
  model.kv_heads = 32;
  model.ffn = 11008;
  CHECK(checkpoint_bytes(model, {}) == 14.0 * 6'738'415'616);
}

TEST_CASE("Preemptions add to the failures of a node, and a kind of node may have its own") {
  FailureModel failures = ordinary_failures();
  HardwareClass hardware{h100_nodes(), {}};
  CHECK(node_failures(failures, hardware, offer(1)).events_per_s() == doctest::Approx(1 / 28.8e6));
  CHECK(node_failures(failures, hardware, offer(1, 0, 0.36)).events_per_s() == near(1 / 28.8e6 + 1e-4));
  hardware.node_mtbf_s = 1e6;
  CHECK(node_failures(failures, hardware, offer(1)).events_per_s() == near(1e-6));
}

TEST_CASE("Preemptions that take four nodes at once are a quarter of the events, and bursts to the law") {
  const FailureModel failures = ordinary_failures();
  costmodel::Offer spot = offer(1, 0, 0.36);
  spot.preempted_together = 4;
  const NodeFailures node = node_failures(failures, {h100_nodes(), {}}, spot);
  CHECK(node.preemptions_per_s == near(0.25e-4));
  const faults::FailureLaw law = law_in(failures, {1e6, 100, 1, 0, 0}, node);
  CHECK(law.burst_share == near(0.25e-4 / (0.25e-4 + 1 / 28.8e6)));
  CHECK(law.burst_units == 4);
  spot.preempted_together = 1;
  CHECK(
      law_in(failures, {1e6, 100, 1, 0, 0}, node_failures(failures, {h100_nodes(), {}}, spot)).burst_share ==
      0);
}

TEST_CASE("A quick tier saves and loads at its own rate; the shared one is behind it") {
  FailureModel failures = ordinary_failures();
  failures.local = {2e9, 0.5};
  const faults::Protection shared{.scheme = Scheme::kCheckpoint};
  faults::Protection local = shared;
  local.tier = faults::CheckpointTier::kLocal;
  // 100 nodes of 2e9 B/s each take 25 s for 5e12 bytes, the shared file system 50 s.
  const auto quick = recovery_costs(failures, local, 100, 5e12);
  const auto slow = recovery_costs(failures, shared, 100, 5e12);
  CHECK(quick.save_s == doctest::Approx(1 + 0.5 * 25));
  CHECK(quick.restart_s == doctest::Approx(slow.restart_s - 25));
  CHECK(quick.deep_save_s == slow.save_s);
  CHECK(quick.deep_restart_s == doctest::Approx(25));
  CHECK(slow.deep_save_s == 0);
}

TEST_CASE("What destroys a quick checkpoint: the node for a disk, both nodes of a pair for memory") {
  FailureModel failures = ordinary_failures();
  failures.node_loss_share = 0.75;
  NodeFailures node{1e-6, 0, 1};
  CHECK(deep_share(failures, faults::CheckpointTier::kShared, node, 100, 600) == 0);
  CHECK(deep_share(failures, faults::CheckpointTier::kLocal, node, 100, 600) == doctest::Approx(0.75));
  // The peer goes within the 600 s, too.
  CHECK(deep_share(failures, faults::CheckpointTier::kPeer, node, 100, 600) ==
        near(0.75 * 0.75e-6 * 600).epsilon(1e-3));
  // One node has no peer.
  CHECK(deep_share(failures, faults::CheckpointTier::kPeer, node, 1, 600) == doctest::Approx(0.75));
  // Preemptions alone, of a geometric number of nodes: the share of draws that hold both nodes of a pair.
  node = {0, 1e-9, 5};
  std::mt19937 random{7};
  std::geometric_distribution<int> more{0.2};
  constexpr int kDraws = 40'000;
  int both = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<int> nodes(64);
    for (int i = 0; i < 64; ++i) nodes[static_cast<std::size_t>(i)] = i;
    const int taken = std::min(64, 1 + more(random));
    std::vector<int> of_pair(32, 0);
    bool lost = false;
    for (int i = 0; i < taken; ++i) {
      std::uniform_int_distribution<int> any{i, 63};
      std::swap(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(any(random))]);
      lost |= ++of_pair[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)] / 2)] == 2;
    }
    both += lost ? 1 : 0;
  }
  const double share = static_cast<double>(both) / kDraws;
  CHECK(std::abs(deep_share(failures, faults::CheckpointTier::kPeer, node, 64, 0) - share) <
        4 * std::sqrt(share / kDraws));
}

TEST_CASE("Nodes fail where the first failure ends the cycle, groups where it is masked") {
  const faults::Protection spare{.scheme = Scheme::kSpare, .r = 2};
  // 64 groups of 16 GPUs on nodes of 8: a group has two nodes.
  const auto groups = failing_unit(spare, 128, 64, 16, 8);
  CHECK(groups.units == 64);
  CHECK(groups.nodes_per_unit == 2);
  // Groups of 4 GPUs share nodes: the node fails.
  const auto shared = failing_unit(spare, 128, 256, 4, 8);
  CHECK(shared.units == 128);
  CHECK(shared.nodes_per_unit == 1);
  const auto nodes = failing_unit({.scheme = Scheme::kCheckpoint}, 128, 64, 16, 8);
  CHECK(nodes.units == 128);
  CHECK(nodes.nodes_per_unit == 1);
}

TEST_CASE("State lives on with lost groups only where others hold it") {
  costmodel::Layout layout;
  layout.cp = 2;
  layout.dp = 32;
  layout.zero = 0;
  CHECK(groups_per_state_copy(layout) == 1);
  layout.zero = 1;
  CHECK(groups_per_state_copy(layout) == 32);
  layout.shard_group = 8;  // ranks of dp x cp: four groups of two
  CHECK(groups_per_state_copy(layout) == 4);
  layout.zero = 0;
  layout.ep = 8;  // experts lie on eight ranks of the two that a group has
  CHECK(groups_per_state_copy(layout) == 4);

  const faults::Protection spare{.scheme = Scheme::kSpare, .r = 2};
  const faults::FailingUnit unit{.units = 32, .groups_per_unit = 1, .nodes_per_unit = 2};
  CHECK(protection_rule(spare, {}, unit, 32, 32) == Rule::kStateCoverage);
  CHECK(protection_rule(spare, {}, unit, 32, 4) == Rule::kNone);
  CHECK(protection_rule({.scheme = Scheme::kSpare, .r = 33}, {}, unit, 32, 1) == Rule::kRedundancy);
  CHECK(protection_rule({.scheme = Scheme::kReplication, .r = 3}, {}, unit, 32, 1) == Rule::kRedundancy);
  CHECK(protection_rule({.scheme = Scheme::kReplication, .r = 4}, {}, unit, 32, 1) == Rule::kNone);
  CHECK(protection_rule({.scheme = Scheme::kCheckpoint}, {}, unit, 32, 32) == Rule::kNone);
}

TEST_CASE("Islands need whole groups and whole nodes each") {
  CHECK(islands_rule({.count = 2}, 8, 16) == Rule::kNone);
  CHECK(islands_rule({.count = 3}, 8, 16) == Rule::kIslands);
  CHECK(islands_rule({.count = 4}, 8, 2) == Rule::kIslands);
  CHECK(islands_rule({}, 7, 3) == Rule::kNone);
}

TEST_CASE("An offer's nodes are counted with the spares") {
  CHECK(offer_rule(offer(1, 16), 16) == Rule::kNone);
  CHECK(offer_rule(offer(1, 16), 17) == Rule::kNodes);
  CHECK(offer_rule(offer(1, 0), 1'000'000) == Rule::kNone);
}

}  // namespace trainfront::search
