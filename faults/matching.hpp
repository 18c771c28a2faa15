#pragma once

#include <span>
#include <vector>

namespace trainfront::faults {

// A bipartite graph: shards on the left, groups on the right; the groups of shard s are to[begin[s]] ...
// to[begin[s+1] - 1].
struct Bipartite {
  int groups = 0;
  std::vector<int> begin{0};
  std::vector<int> to;

  int shards() const { return static_cast<int>(begin.size()) - 1; }
};

inline constexpr int kUnassigned = -1;

// Extends `assigned` (a group per shard, or kUnassigned) to a largest assignment in which group g has at most
// capacity[g] shards. Returns how many shards are assigned. Shards may move, but none that was assigned ends
// unassigned. Hopcroft and Karp, SIAM J. Comput. 2 (1973), with capacities on the right. What is assigned
// must obey the capacities already.
int hopcroft_karp(const Bipartite& graph, std::span<const int> capacity, std::vector<int>& assigned);

}  // namespace trainfront::faults
