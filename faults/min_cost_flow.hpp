#pragma once

#include <span>
#include <vector>

#include "faults/matching.hpp"

namespace trainfront::faults {

// Extends `assigned` to all shards at the least total cost, cost[e] >= 0 for edge e of graph.to: a
// minimum-cost maximum flow source -> shards -> groups (capacity[g]) -> sink, by successive shortest paths
// with potentials (Edmonds and Karp, J. ACM 19, 1972). What is assigned at the start must have cost 0 and
// obey the capacities. Returns the cost, or -1 if not all shards can be assigned (`assigned` is then of no
// use).
int assign_at_least_cost(const Bipartite& graph, std::span<const int> capacity, std::span<const int> cost,
                         std::vector<int>& assigned);

}  // namespace trainfront::faults
