#pragma once

#include <cstddef>
#include <vector>

namespace trainfront::costmodel {

// What happens in a node.
enum class Work : unsigned char {
  kForward,
  kInputGradient,
  kWeightGradient,
  kTransfer,
  kGather,
  kReduce,
  kOptimizer
};

struct GraphNode {
  int resource = 0;  // stream that works on it; nodes of one resource run in the order they were added
  double seconds = 0;
  Work work = Work::kForward;
  int stage = 0;
  int chunk = 0;
  int micro_batch = 0;
};

struct GraphEdge {
  int before = 0;
  int after = 0;
  double delay_s = 0;  // between the end of one and the start of the other: a transfer
};

// An execution graph: work on resources, and what must come before what.
class Graph {
 public:
  explicit Graph(int resources) : last_on_(static_cast<std::size_t>(resources), -1) {}

  // Appends a node to its resource's queue; returns its number. Nodes are numbered 0, 1, ...
  int add(const GraphNode& node);
  void depend(int before, int after, double delay_s = 0);

  const std::vector<GraphNode>& nodes() const { return nodes_; }
  const std::vector<GraphEdge>& edges() const { return edges_; }

 private:
  std::vector<GraphNode> nodes_;
  std::vector<GraphEdge> edges_;
  std::vector<int> last_on_;
};

// When everything runs if nothing waits without need.
struct Timeline {
  bool complete = true;  // false: the graph has a cycle (the schedule deadlocks); times are then meaningless
  double length_s = 0;   // of the longest path
  std::vector<double> start_s;  // by node
  std::vector<int> binding;     // by node: the edge that it waited for last; -1: it started at 0
  int last = -1;                // the node that ends last
};
Timeline run_graph(const Graph& graph);

// A node on the longest path, and the wait before it: the delay of the edge from its predecessor.
struct PathStep {
  int node = 0;
  double delay_s = 0;
};

// The longest path from its beginning: delays and nodes' seconds sum to length_s.
std::vector<PathStep> critical_path(const Graph& graph, const Timeline& timeline);

}  // namespace trainfront::costmodel
