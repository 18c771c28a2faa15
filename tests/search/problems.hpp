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

}  // namespace trainfront::search
