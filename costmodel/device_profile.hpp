#pragma once

#include <array>
#include <string>
#include <vector>

#include "costmodel/evidence.hpp"
#include "costmodel/gemm_steps.hpp"
#include "costmodel/monotone_table.hpp"

namespace trainfront::costmodel {

// Regressions fitted on measurements of one device; every constant is in SI. Each is a parametric form, right
// in its growth and a few per cent to a few tens of per cent off, and, where there were enough measurements,
// a table of what was measured, used within its range. Forms and symbols are those of gemm_time.cpp,
// grouped_gemm_time.cpp, attention_time.cpp, memory_bound_time.cpp, collective_time.cpp and
// network_collective.cpp.

// t0 + ((2 m n (k + k0) / (P occ^w))^p + (bytes/B)^p)^(1/p), all times the sustained slow-down. occ counts
// whole tiles, whole waves, and idle units that share a tile's k.
struct GemmFit {
  double flops_per_s = 0;         // P, in a burst as benchmarks measure it; > 0
  double bytes_per_s = 0;         // B; > 0
  double norm = 3;                // p, >= 1
  double launch_s = 0;            // t0
  double occupancy_exponent = 0;  // w, 0..1
  double k_half = 0;              // k0
  double k_split =
      0;  // products along k that a block keeps at least when idle units share them; 0: no sharing
  double tile_half = 0;  // i0: a tile of i = rows columns/(rows + columns) runs at i/(i + i0) of the best
  double sustained_slowdown = 1;  // of training's sustained clock against a burst, >= 1
  double form_share = 0;          // 0..1: the table holds t / form^form_share (burst) over m, n, k
  Evidence evidence = Evidence::kDataSheet;
  MonotoneTable table = {};
  GemmSteps steps = {};  // over the table
};

// launch + 2 (pairs + c s0 queries) heads (qk_dim + value_dim + 2 d0) / R + bytes / B; c = 1/2 if causal,
// else 1.
struct AttentionFit {
  double flops_per_s = 0;    // R; > 0
  double half_sequence = 0;  // s0: keys' worth of work that every query costs beyond its own
  double softmax_dims = 0;   // d0: head dims that the softmax costs as much as
  double bytes_per_s = 0;    // B; > 0
  double launch_s = 0;
  double cache_bytes_per_s = 0;  // at which serving engines add K and V to their cache; 0: not known
  double backward_factor = 2.9;  // backward over forward
  Evidence evidence = Evidence::kDataSheet;
  MonotoneTable table = {};  // forward over (sequence of causal self-attention, batch * heads, head dim)
};

// launch + bytes / B, one per MemoryBound kind.
struct MemoryBoundFit {
  double launch_s = 0;
  double bytes_per_s = 0;  // > 0
  Evidence evidence = Evidence::kDataSheet;
  MonotoneTable table = {};  // over bytes
};

// Within one scale-up domain, one per Collective: a0 + a1 (n-1) + S f/(W L) + S/(n C L) + g sqrt(S f/L).
struct LinkFit {
  double base_s = 0;         // a0
  double per_rank_s = 0;     // a1
  double link_share = 0.85;  // W, of the data sheet's one-way rate L; > 0
  double copy_share = 0;     // C; 0: no local copy
  double root_s = 0;         // g, in sqrt(s)
  Evidence evidence = Evidence::kDataSheet;
  MonotoneTable table = {};  // over (ranks, bytes)
};

// all_reduce in the switch (NVLink SHARP): a + S (1 + 1/n)/(W L) + g sqrt(S/L), where it beats the ring.
struct SwitchReduceFit {
  int min_ranks = 0;  // 0: the fabric cannot
  double base_s = 0;
  double link_share = 0.69;
  double root_s = 0;
};

// What collectives measured across domains say of the network, in place of the catalogue's Network.
struct NetworkFit {
  double latency_scale = 0;  // 0: not measured
  double efficiency = 0;
  int most_domains = 0;                    // that were measured
  std::string kind = {};                   // Network::kind that it is of, and of no other
  std::array<bool, 5> of_collective = {};  // by Collective: measured itself; the others follow from it
};

struct DeviceProfile {
  std::string name;  // of the profile: device and date
  GemmFit bf16, fp8;
  GemmFit grouped_bf16, grouped_fp8;
  AttentionFit attention;
  std::array<MemoryBoundFit, 10> memory_bound;  // by MemoryBound
  std::array<LinkFit, 5> link;                  // by Collective
  SwitchReduceFit switch_reduce;
  NetworkFit network;
  std::vector<std::string> sources;
};

}  // namespace trainfront::costmodel
