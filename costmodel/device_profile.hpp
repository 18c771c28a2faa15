#pragma once

#include <array>
#include <string>
#include <vector>

#include "costmodel/evidence.hpp"

namespace trainfront::costmodel {

// Regressions fitted on measurements of one device; every constant is in SI. Forms and symbols are those of
// gemm_time.cpp, attention_time.cpp, memory_bound_time.cpp and collective_time.cpp.

// t0 + ((F (1 + k0/k) / (P occ^w))^p + (bytes/B)^p)^(1/p)
struct GemmFit {
  double flops_per_s = 0;         // P, sustained
  double bytes_per_s = 0;         // B
  double norm = 3;                // p
  double launch_s = 0;            // t0
  double occupancy_exponent = 0;  // w
  double k_half = 0;              // k0
  Evidence evidence = Evidence::kDataSheet;
};

// launch + forward FLOPs / R (1 + s0/s) + bytes / B; backward = factor * forward.
struct AttentionFit {
  double flops_per_s = 0;     // R
  double half_sequence = 0;   // s0
  double bytes_per_s = 0;
  double launch_s = 5e-6;
  double backward_factor = 2.9;
  Evidence evidence = Evidence::kDataSheet;
};

// launch + bytes / B, one per MemoryBound kind.
struct MemoryBoundFit {
  double launch_s = 0;
  double bytes_per_s = 0;
  Evidence evidence = Evidence::kDataSheet;
};

// Within one scale-up domain: a0 + a1 (n-1) + S f/(W L) + S/(n C L) + g sqrt(S f/L)
// (findings/communication, section 1); one per Collective kind.
struct LinkFit {
  double base_s = 0;          // a0
  double per_rank_s = 0;      // a1
  double link_share = 0.85;   // W
  double copy_share = 2;      // C
  double root_s = 0;          // g, in sqrt(s)
  Evidence evidence = Evidence::kDataSheet;
};

struct DeviceProfile {
  std::string name;           // of the profile: device and date
  GemmFit bf16, fp8;
  GemmFit grouped_bf16, grouped_fp8;
  AttentionFit attention;
  std::array<MemoryBoundFit, 10> memory_bound;  // by MemoryBound
  std::array<LinkFit, 5> link;                  // by Collective
  std::vector<std::string> sources;
};

}  // namespace trainfront::costmodel
