#pragma once

namespace trainfront::costmodel {

// Islands: dp groups split over sites that synchronise every inner_steps steps over a wide-area link (DiLoCo,
// arXiv 2311.08105). count 1: none.
struct Islands {
  int count = 1;
  int inner_steps = 1;
  double wan_bytes_per_s = 0;  // between two islands, one way
  double rtt_s = 0;
  int sync_bits = 32;  // per parameter exchanged

  bool operator==(const Islands&) const = default;
};

}  // namespace trainfront::costmodel
