#include "costmodel/breakdown.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainfront::costmodel {
namespace {

constexpr std::array<std::string_view, kPathParts> kPartNames{
    "gemm", "attention",         "memory_bound",  "tensor_parallel", "context_parallel", "expert_parallel",
    "host", "pipeline_transfer", "data_parallel", "optimizer",       "outer_sync"};

// Times by stage and part.
class Ledger {
 public:
  explicit Ledger(int stages) : seconds_(static_cast<std::size_t>(stages) * kPathParts, 0.0) {}

  void add(int stage, PathPart part, double seconds) {
    seconds_[static_cast<std::size_t>(stage) * kPathParts + static_cast<std::size_t>(part)] += seconds;
  }
  void add(int stage, const PartTimes& parts) {
    static_assert(static_cast<int>(PathPart::kHost) == kParts - 1);  // the first parts are a pass's
    for (std::size_t i = 0; i < parts.seconds.size(); ++i)
      add(stage, static_cast<PathPart>(i), parts.seconds[i]);
  }
  std::vector<PathShare> shares() const {
    std::vector<PathShare> result;
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      if (seconds_[i] > 0) {
        result.push_back(
            {static_cast<int>(i / kPathParts), static_cast<PathPart>(i % kPathParts), seconds_[i]});
      }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const PathShare& a, const PathShare& b) { return a.seconds > b.seconds; });
    return result;
  }

 private:
  std::vector<double> seconds_;
};

// What a pass consists of; nothing for other work.
PartTimes pass_parts(const GraphNode& node, const StepGraph& step, int stages) {
  const auto chunk = static_cast<std::size_t>(node.chunk) * static_cast<std::size_t>(stages) +
                     static_cast<std::size_t>(node.stage);
  switch (node.work) {
    case Work::kForward:
      return step.chunks[chunk][Pass::kForward];
    case Work::kInputGradient: {
      PartTimes parts = step.chunks[chunk][Pass::kInputGradient];
      if (!step.splits_backward) parts.add(step.chunks[chunk][Pass::kWeightGradient]);
      return parts;
    }
    case Work::kWeightGradient:
      return step.chunks[chunk][Pass::kWeightGradient];
    case Work::kTransfer:
    case Work::kGather:
    case Work::kReduce:
    case Work::kOptimizer:
      break;
  }
  return {};
}

void add_node(Ledger& ledger, const GraphNode& node, const StepGraph& step, int stages) {
  switch (node.work) {
    case Work::kForward:
    case Work::kInputGradient:
    case Work::kWeightGradient:
      ledger.add(node.stage, pass_parts(node, step, stages));
      return;
    case Work::kTransfer:
      ledger.add(node.stage, PathPart::kTransfer, node.seconds);
      return;
    case Work::kGather:
    case Work::kReduce:
      ledger.add(node.stage, PathPart::kDataParallel, node.seconds);
      return;
    case Work::kOptimizer:
      ledger.add(node.stage, PathPart::kOptimizer, node.seconds);
      return;
  }
}

std::string_view work_name(Work work) {
  switch (work) {
    case Work::kForward:
      return "forward";
    case Work::kInputGradient:
      return "input_gradient";
    case Work::kWeightGradient:
      return "weight_gradient";
    case Work::kTransfer:
      return "transfer";
    case Work::kGather:
      return "parameter_gather";
    case Work::kReduce:
      return "gradient_reduce";
    case Work::kOptimizer:
      break;
  }
  return "optimizer";
}

}  // namespace

std::string_view path_part_name(PathPart part) {
  return kPartNames[static_cast<std::size_t>(part)];
}

std::vector<PathShare> path_shares(const StepGraph& step, const Layout& layout) {
  Ledger ledger(layout.pp + 1);
  for (const PathStep& on_path : critical_path(step.graph, step.timeline)) {
    const GraphNode& node = step.graph.nodes()[static_cast<std::size_t>(on_path.node)];
    ledger.add(node.stage, PathPart::kTransfer, on_path.delay_s);
    add_node(ledger, node, step, layout.pp);
  }
  ledger.add(layout.pp, PathPart::kOuterSync, step.outer_sync_s);
  return ledger.shares();
}

std::vector<StepEvent> step_events(const StepGraph& step, const Layout& layout) {
  const std::vector<GraphNode>& nodes = step.graph.nodes();
  std::vector<StepEvent> events;
  events.reserve(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    events.push_back({work_name(nodes[n].work), nodes[n].stage, nodes[n].chunk, nodes[n].micro_batch,
                      step.timeline.start_s[n], nodes[n].seconds, false,
                      pass_parts(nodes[n], step, layout.pp)});
  }
  for (const PathStep& on_path : critical_path(step.graph, step.timeline)) {
    events[static_cast<std::size_t>(on_path.node)].critical = true;
  }
  std::stable_sort(events.begin(), events.end(), [](const StepEvent& a, const StepEvent& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.start_s < b.start_s;
  });
  return events;
}

}  // namespace trainfront::costmodel
