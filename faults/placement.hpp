#pragma once

#include <cstdint>
#include <vector>

namespace trainfront::faults {

// Which groups host a shard type: type t lies on groups (t + o) mod N for every offset o.
enum class Placement : std::uint8_t {
  kGolomb,       // any two types share as few hosts as can be; one at most where N allows
  kRandom,       // offsets drawn at random
  kConsecutive,  // 0, 1, ..., r-1
};

// r distinct offsets, the first 0, ascending; 1 <= r <= n, else empty. The same arguments give the same
// offsets. Golomb offsets are nested: those for r are among those for r + 1. `seed` matters for random
// offsets only.
std::vector<std::int64_t> offsets(std::int64_t n, int r, Placement placement, std::uint64_t seed = 0);

// How many of the N - 1 other types share `hosts` of its r hosts with a given type.
struct Overlap {
  int hosts = 0;
  double types = 0;  // a mean over placements where these are random
};

// Ascending by hosts; without entries of no types; empty for r outside [1, n].
std::vector<Overlap> overlaps(std::int64_t n, int r, const std::vector<std::int64_t>& offsets);

// The mean over all sets of r offsets, N prime (else an approximation that is close: shifts of small order
// count slightly otherwise). The number of r-subsets of an N-cycle with b blocks is (N/b) C(r-1, b-1)
// C(N-r-1, b-1).
std::vector<Overlap> random_overlaps(std::int64_t n, int r);

}  // namespace trainfront::faults
