#pragma once

#include "costmodel/evidence.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSendRecv };
inline constexpr int kCollectiveKinds = 5;

// Where the ranks of a group sit: how many scale-up domains they span and how many share the fullest one.
struct Placement {
  int ranks = 1;
  int domains = 1;     // worst group's
  int per_domain = 1;  // members in one domain, the least over the domains the group fills

  bool operator==(const Placement&) const = default;
};

// The worst placement of the groups of `size` ranks that lie `stride` ranks apart, ranks numbered domain by
// domain: the most domains that one of them touches, and the fewest members that one has in a domain it
// touches (the two may come from different groups). size, stride, domain_gpus >= 1.
Placement place_group(int stride, int size, int domain_gpus);

// Time of one collective. bytes as nccl-tests counts them: the full vector for all_reduce, the gathered
// vector for all_gather, the vector before scattering for reduce_scatter, a rank's send buffer for
// all_to_all, the message for send_recv. 0 for a group of one; >= 0, finite, and never falls when bytes grow.
Timed collective_time(const Hardware& hardware, Collective collective, double bytes,
                      const Placement& placement);

// The same device with a scale-up link `factor` as fast: what was measured changes as the parametric form
// does.
Device with_faster_link(const Device& device, double factor);

}  // namespace trainfront::costmodel
