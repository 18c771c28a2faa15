#include "costmodel/graph.hpp"

#include <algorithm>

namespace trainfront::costmodel {

int Graph::add(const GraphNode& node) {
  const int number = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  int& last = last_on_[static_cast<std::size_t>(node.resource)];
  if (last >= 0) depend(last, number);
  last = number;
  return number;
}

void Graph::depend(int before, int after, double delay_s) {
  edges_.push_back({before, after, delay_s});
}

// Kahn's topological order; edges out of a node are chained.
Timeline run_graph(const Graph& graph) {
  const std::vector<GraphNode>& nodes = graph.nodes();
  const std::vector<GraphEdge>& edges = graph.edges();
  Timeline timeline;
  timeline.start_s.assign(nodes.size(), 0.0);
  timeline.binding.assign(nodes.size(), -1);

  std::vector<int> first_out(nodes.size(), -1);
  std::vector<int> next_out(edges.size());
  std::vector<int> waiting(nodes.size(), 0);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    int& first = first_out[static_cast<std::size_t>(edges[e].before)];
    next_out[e] = first;
    first = static_cast<int>(e);
    ++waiting[static_cast<std::size_t>(edges[e].after)];
  }
  std::vector<int> ready;
  ready.reserve(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (waiting[n] == 0) ready.push_back(static_cast<int>(n));
  }
  for (std::size_t done = 0; done < ready.size(); ++done) {
    const auto n = static_cast<std::size_t>(ready[done]);
    const double end = timeline.start_s[n] + nodes[n].seconds;
    if (timeline.last < 0 || end > timeline.length_s) {
      timeline.length_s = end;
      timeline.last = static_cast<int>(n);
    }
    for (int e = first_out[n]; e >= 0; e = next_out[static_cast<std::size_t>(e)]) {
      const GraphEdge& edge = edges[static_cast<std::size_t>(e)];
      const auto after = static_cast<std::size_t>(edge.after);
      const double earliest = end + edge.delay_s;
      if (timeline.binding[after] < 0 || earliest > timeline.start_s[after]) {
        timeline.start_s[after] = std::max(earliest, 0.0);
        timeline.binding[after] = e;
      }
      if (--waiting[after] == 0) ready.push_back(edge.after);
    }
  }
  timeline.complete = ready.size() == nodes.size();
  return timeline;
}

std::vector<PathStep> critical_path(const Graph& graph, const Timeline& timeline) {
  std::vector<PathStep> path;
  int node = timeline.last;
  while (node >= 0) {
    const int edge = timeline.binding[static_cast<std::size_t>(node)];
    if (edge < 0) {
      path.push_back({node, 0});
      break;
    }
    const GraphEdge& bound = graph.edges()[static_cast<std::size_t>(edge)];
    path.push_back({node, bound.delay_s});
    node = bound.before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace trainfront::costmodel
