#pragma once

#include <array>

namespace trainfront::costmodel {

// What NCCL's own tuning model takes one of its wire protocols to cost, in seconds: a call, and one hop of a
// tree or ring over NVLink and between nodes (github.com/NVIDIA/nccl, src/graph/tuning.cc of 2.27, baseLat
// and hwLat).
struct NcclLatencies {
  double base_s;
  double tree_link_s, ring_link_s;
  double tree_network_s, ring_network_s;
};

inline constexpr std::array<NcclLatencies, 3> kNcclLatencies{{
    {6.6e-6, 0.6e-6, 0.6e-6, 5e-6, 2.7e-6},  // LL
    {14e-6, 1.25e-6, 1.9e-6, 8.5e-6, 4e-6},  // LL128
    {8.4e-6, 4e-6, 3.4e-6, 14e-6, 14e-6},    // Simple
}};

}  // namespace trainfront::costmodel
