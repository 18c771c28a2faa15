#include "faults/rectlr.hpp"

#include <algorithm>

#include "faults/min_cost_flow.hpp"

namespace trainfront::faults {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

int count(const std::vector<bool>& alive) {
  return static_cast<int>(std::count(alive.begin(), alive.end(), true));
}

// Shards each survivor must compute at least.
int fair_share(int shards, int survivors) {
  return (shards + survivors - 1) / survivors;
}

std::vector<int> capacities(const std::vector<bool>& alive, int depth) {
  std::vector<int> capacity(alive.size(), 0);
  for (std::size_t group = 0; group < alive.size(); ++group) capacity[group] = alive[group] ? depth : 0;
  return capacity;
}

bool is_wiped_out(const Bipartite& hosts, const std::vector<bool>& alive) {
  for (int shard = 0; shard < hosts.shards(); ++shard) {
    bool hosted = false;
    for (int e = hosts.begin[at(shard)]; e < hosts.begin[at(shard) + 1] && !hosted; ++e) {
      hosted = alive[at(hosts.to[at(e)])];
    }
    if (!hosted) return true;
  }
  return false;
}

// Who computes each shard within the first `depth` of the present order; kUnassigned where nobody does.
std::vector<int> collected(const StackOrder& present, const std::vector<bool>& alive, int depth) {
  std::vector<int> by(at(present.shards), kUnassigned);
  for (int position = 0; position < std::min(depth, present.per_group); ++position) {
    for (int group = 0; group < present.groups; ++group) {
      if (!alive[at(group)]) continue;
      int& owner = by[at(present.of(group)[at(position)])];
      if (owner == kUnassigned) owner = group;
    }
  }
  return by;
}

// The least depth at which all shards can be assigned, by Hopcroft-Karp from a start that obeys `depth`.
int deepen(const Bipartite& hosts, const std::vector<bool>& alive, int depth, std::vector<int>& assigned) {
  while (hopcroft_karp(hosts, capacities(alive, depth), assigned) < hosts.shards()) ++depth;
  return depth;
}

// Brings what each survivor must compute into its first `depth` places, leaving the rest in its order.
// Returns the shards that moved up.
int rearrange(StackOrder& order, const std::vector<int>& assigned, const std::vector<bool>& alive,
              int depth) {
  int moved = 0;
  for (int group = 0; group < order.groups; ++group) {
    if (!alive[at(group)]) continue;
    const auto first = order.order.begin() + group * order.per_group;
    const auto boundary = first + std::min(depth, order.per_group);
    const auto is_due = [&](int shard) { return assigned[at(shard)] == group; };
    auto free = first;
    for (auto late = boundary; late != first + order.per_group; ++late) {
      if (!is_due(*late)) continue;
      while (is_due(*free)) ++free;
      std::iter_swap(free, late);
      ++moved;
    }
  }
  return moved;
}

}  // namespace

StackOrder initial_order(std::int64_t n, const std::vector<std::int64_t>& offsets, int sub_shards) {
  StackOrder order;
  order.groups = static_cast<int>(n);
  order.shards = static_cast<int>(n) * sub_shards;
  order.per_group = static_cast<int>(offsets.size()) * sub_shards;
  order.order.reserve(at(order.groups) * at(order.per_group));
  for (std::int64_t group = 0; group < n; ++group) {
    for (const std::int64_t offset : offsets) {
      const auto type = static_cast<int>((group - offset + n) % n);
      for (int part = 0; part < sub_shards; ++part) order.order.push_back(type * sub_shards + part);
    }
  }
  return order;
}

Controller::Controller(const StackOrder& initial) : per_group_(initial.per_group) {
  hosts_.groups = initial.groups;
  std::vector<int> hosts(at(initial.shards) + 1, 0);
  for (const int shard : initial.order) ++hosts[at(shard) + 1];
  for (std::size_t shard = 1; shard < hosts.size(); ++shard) hosts[shard] += hosts[shard - 1];
  hosts_.begin = hosts;
  hosts_.to.resize(initial.order.size());
  for (int group = 0; group < initial.groups; ++group) {
    for (const int shard : initial.of(group)) hosts_.to[at(hosts[at(shard)]++)] = group;
  }
}

int Controller::least_depth(const std::vector<bool>& alive) const {
  if (count(alive) == 0 || is_wiped_out(hosts_, alive)) return 0;
  std::vector<int> assigned(at(hosts_.shards()), kUnassigned);
  return deepen(hosts_, alive, fair_share(hosts_.shards(), count(alive)), assigned);
}

Decision Controller::decide(const StackOrder& present, const std::vector<bool>& alive,
                            int present_depth) const {
  Decision decision;
  decision.order = present;
  if (count(alive) == 0 || is_wiped_out(hosts_, alive)) return decision;

  // Fewer survivors never need less, so that the depth of the last decision is a lower bound on S* too.
  const int least = std::max(fair_share(hosts_.shards(), count(alive)), present_depth);
  std::vector<int> assigned = collected(present, alive, least);
  const bool collects = std::find(assigned.begin(), assigned.end(), kUnassigned) == assigned.end();
  if (collects) {
    decision.phase = Phase::kFixed;
    decision.depth = least;
    return decision;
  }

  decision.phase = Phase::kReorder;
  decision.depth = deepen(hosts_, alive, least, assigned);
  assigned = collected(present, alive, decision.depth);
  std::vector<int> cost(hosts_.to.size(), 1);
  for (int group = 0; group < present.groups; ++group) {
    for (int position = 0; position < std::min(decision.depth, per_group_); ++position) {
      const int shard = present.of(group)[at(position)];
      for (int e = hosts_.begin[at(shard)]; e < hosts_.begin[at(shard) + 1]; ++e) {
        if (hosts_.to[at(e)] == group) cost[at(e)] = 0;
      }
    }
  }
  assign_at_least_cost(hosts_, capacities(alive, decision.depth), cost, assigned);
  decision.moved = rearrange(decision.order, assigned, alive, decision.depth);
  return decision;
}

int fixed_depth(const StackOrder& present, const std::vector<bool>& alive) {
  std::vector<bool> have(at(present.shards), false);
  int missing = present.shards;
  for (int position = 0; position < present.per_group; ++position) {
    for (int group = 0; group < present.groups; ++group) {
      if (!alive[at(group)]) continue;
      const int shard = present.of(group)[at(position)];
      if (have[at(shard)]) continue;
      have[at(shard)] = true;
      --missing;
    }
    if (missing == 0) return position + 1;
  }
  return 0;
}

}  // namespace trainfront::faults
