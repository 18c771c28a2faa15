#include "faults/matching.hpp"

#include <algorithm>
#include <cstddef>

namespace trainfront::faults {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

class Matcher {
 public:
  Matcher(const Bipartite& graph, std::span<const int> capacity, std::vector<int>& assigned)
      : graph_(graph),
        capacity_(capacity),
        assigned_(assigned),
        held_(at(graph.groups)),
        layer_(at(graph.shards())),
        next_edge_(at(graph.shards())) {
    for (int shard = 0; shard < graph_.shards(); ++shard) {
      const int group = assigned_[at(shard)];
      if (group == kUnassigned) continue;
      held_[at(group)].push_back(shard);
      ++matched_;
    }
  }

  int run() {
    while (matched_ < graph_.shards() && find_layers()) {
      for (int shard = 0; shard < graph_.shards(); ++shard) next_edge_[at(shard)] = graph_.begin[at(shard)];
      for (int shard = 0; shard < graph_.shards(); ++shard) {
        if (assigned_[at(shard)] == kUnassigned && augment(shard)) ++matched_;
      }
    }
    return matched_;
  }

 private:
  bool has_room(int group) const { return std::ssize(held_[at(group)]) < capacity_[at(group)]; }

  // Breadth first from the unassigned shards; stops with the layer that first reaches a group with room.
  bool find_layers() {
    std::fill(layer_.begin(), layer_.end(), -1);
    queue_.clear();
    for (int shard = 0; shard < graph_.shards(); ++shard) {
      if (assigned_[at(shard)] != kUnassigned) continue;
      layer_[at(shard)] = 0;
      queue_.push_back(shard);
    }
    std::vector<bool> seen(at(graph_.groups), false);
    last_layer_ = -1;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const int shard = queue_[head];
      if (last_layer_ >= 0 && layer_[at(shard)] >= last_layer_) break;
      for (int e = graph_.begin[at(shard)]; e < graph_.begin[at(shard) + 1]; ++e) {
        const int group = graph_.to[at(e)];
        if (seen[at(group)] || capacity_[at(group)] == 0) continue;
        seen[at(group)] = true;
        if (has_room(group)) {
          if (last_layer_ < 0) last_layer_ = layer_[at(shard)] + 1;
          continue;
        }
        for (const int other : held_[at(group)]) {
          if (layer_[at(other)] >= 0) continue;
          layer_[at(other)] = layer_[at(shard)] + 1;
          queue_.push_back(other);
        }
      }
    }
    return last_layer_ >= 0;
  }

  // Depth first along the layers. Each edge is looked at once a phase.
  bool augment(int shard) {
    for (int& e = next_edge_[at(shard)]; e < graph_.begin[at(shard) + 1]; ++e) {
      const int group = graph_.to[at(e)];
      if (capacity_[at(group)] == 0) continue;
      if (has_room(group)) {
        place(shard, group);
        return true;
      }
      std::vector<int>& held = held_[at(group)];
      for (std::size_t i = 0; i < held.size(); ++i) {
        const int other = held[i];
        if (layer_[at(other)] != layer_[at(shard)] + 1) continue;
        if (layer_[at(other)] >= last_layer_) continue;
        if (!augment(other)) {
          layer_[at(other)] = -1;  // a dead end for this phase
          continue;
        }
        // `other` found a new group; its old one has room for this shard.
        held.erase(std::find(held.begin(), held.end(), other));
        place(shard, group);
        return true;
      }
    }
    return false;
  }

  void place(int shard, int group) {
    assigned_[at(shard)] = group;
    held_[at(group)].push_back(shard);
  }

  const Bipartite& graph_;
  std::span<const int> capacity_;
  std::vector<int>& assigned_;
  std::vector<std::vector<int>> held_;  // shards by group
  std::vector<int> layer_;
  std::vector<int> next_edge_;
  std::vector<int> queue_;
  int last_layer_ = -1;
  int matched_ = 0;
};

}  // namespace

int hopcroft_karp(const Bipartite& graph, std::span<const int> capacity, std::vector<int>& assigned) {
  return Matcher(graph, capacity, assigned).run();
}

}  // namespace trainfront::faults
