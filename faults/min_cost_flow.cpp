#include "faults/min_cost_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>

namespace trainfront::faults {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

constexpr int kFar = std::numeric_limits<int>::max() / 4;

class Flow {
 public:
  Flow(const Bipartite& graph, std::span<const int> capacity, std::span<const int> cost,
       std::vector<int>& assigned)
      : graph_(graph),
        capacity_(capacity),
        cost_(cost),
        assigned_(assigned),
        load_(at(graph.groups), 0),
        held_(at(graph.groups)),
        shard_potential_(at(graph.shards()), 0),
        group_potential_(at(graph.groups), 0),
        shard_distance_(at(graph.shards())),
        group_distance_(at(graph.groups)),
        from_(at(graph.groups)) {
    for (int shard = 0; shard < graph_.shards(); ++shard) {
      const int group = assigned_[at(shard)];
      if (group == kUnassigned) continue;
      ++load_[at(group)];
      held_[at(group)].push_back(shard);
    }
  }

  int run() {
    for (int shard = 0; shard < graph_.shards(); ++shard) {
      if (assigned_[at(shard)] == kUnassigned && !augment(shard)) return -1;
    }
    int total = 0;
    for (int shard = 0; shard < graph_.shards(); ++shard) {
      for (int e = graph_.begin[at(shard)]; e < graph_.begin[at(shard) + 1]; ++e) {
        if (graph_.to[at(e)] == assigned_[at(shard)]) total += cost_[at(e)];
      }
    }
    return total;
  }

 private:
  int edge(int shard, int group) const {
    for (int e = graph_.begin[at(shard)]; e < graph_.begin[at(shard) + 1]; ++e) {
      if (graph_.to[at(e)] == group) return e;
    }
    return -1;
  }

  // Dijkstra on reduced costs from one unassigned shard to the nearest group with room. Nodes: shards, then
  // groups.
  bool augment(int source) {
    std::fill(shard_distance_.begin(), shard_distance_.end(), kFar);
    std::fill(group_distance_.begin(), group_distance_.end(), kFar);
    using Entry = std::pair<int, int>;  // distance, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    shard_distance_[at(source)] = 0;
    open.push({0, source});
    int goal = -1;
    int goal_distance = kFar;
    while (!open.empty()) {
      const auto [distance, node] = open.top();
      open.pop();
      if (distance >= goal_distance) break;
      if (node < graph_.shards()) {
        if (distance > shard_distance_[at(node)]) continue;
        for (int e = graph_.begin[at(node)]; e < graph_.begin[at(node) + 1]; ++e) {
          const int group = graph_.to[at(e)];
          if (capacity_[at(group)] == 0 || assigned_[at(node)] == group) continue;
          const int through =
              distance + cost_[at(e)] + shard_potential_[at(node)] - group_potential_[at(group)];
          if (through >= group_distance_[at(group)]) continue;
          group_distance_[at(group)] = through;
          from_[at(group)] = node;
          open.push({through, graph_.shards() + group});
        }
        continue;
      }
      const int group = node - graph_.shards();
      if (distance > group_distance_[at(group)]) continue;
      if (load_[at(group)] < capacity_[at(group)]) {
        // The edge to the sink has cost 0 and the sink the largest potential.
        const int to_sink = distance + group_potential_[at(group)] - sink_potential_;
        if (to_sink < goal_distance) {
          goal_distance = to_sink;
          goal = group;
        }
      }
      for (const int other : held_[at(group)]) {
        const int back = distance - cost_[at(edge(other, group))] + group_potential_[at(group)] -
                         shard_potential_[at(other)];
        if (back >= shard_distance_[at(other)]) continue;
        shard_distance_[at(other)] = back;
        open.push({back, other});
      }
    }
    if (goal < 0) return false;
    for (std::size_t i = 0; i < shard_distance_.size(); ++i) {
      shard_potential_[i] += std::min(shard_distance_[i], goal_distance);
    }
    for (std::size_t i = 0; i < group_distance_.size(); ++i) {
      group_potential_[i] += std::min(group_distance_[i], goal_distance);
    }
    sink_potential_ += goal_distance;
    ++load_[at(goal)];
    for (int group = goal;;) {
      const int shard = from_[at(group)];
      const int before = assigned_[at(shard)];
      assigned_[at(shard)] = group;
      held_[at(group)].push_back(shard);
      if (before == kUnassigned) return true;
      std::vector<int>& held = held_[at(before)];
      held.erase(std::find(held.begin(), held.end(), shard));
      group = before;
    }
  }

  const Bipartite& graph_;
  std::span<const int> capacity_;
  std::span<const int> cost_;
  std::vector<int>& assigned_;
  std::vector<int> load_;
  std::vector<std::vector<int>> held_;
  std::vector<int> shard_potential_;
  std::vector<int> group_potential_;
  std::vector<int> shard_distance_;
  std::vector<int> group_distance_;
  std::vector<int> from_;  // the shard through which a group was reached
  int sink_potential_ = 0;
};

}  // namespace

int assign_at_least_cost(const Bipartite& graph, std::span<const int> capacity, std::span<const int> cost,
                         std::vector<int>& assigned) {
  return Flow(graph, capacity, cost, assigned).run();
}

}  // namespace trainfront::faults
