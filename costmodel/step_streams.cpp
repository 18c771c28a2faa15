#include "costmodel/step_streams.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "costmodel/stage_load.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::array<std::string_view, kStreams> kNames = {
    "compute",       "tensor parallel",      "context parallel",        "expert parallel",
    "data parallel", "pipeline to the next", "pipeline to the previous"};

struct Kind {
  Part part;
  Stream stream;
};
constexpr std::array kKinds = {Kind{Part::kTensorParallel, Stream::kTensorParallel},
                               Kind{Part::kContextParallel, Stream::kContextParallel},
                               Kind{Part::kExpertParallel, Stream::kExpertParallel}};

class Streams {
 public:
  Streams(const StepGraph& step, const Layout& layout, const std::vector<BlockTime>& links)
      : step_(step), layout_(layout), links_(links) {}

  std::vector<StreamEvent> take() {
    const std::vector<GraphNode>& nodes = step_.graph.nodes();
    for (std::size_t n = 0; n < nodes.size(); ++n) add(nodes[n], step_.timeline.start_s[n]);
    for (const GraphEdge& edge : step_.graph.edges()) {
      if (edge.delay_s > 0) add_flight(edge);
    }
    std::stable_sort(events_.begin(), events_.end(), [](const StreamEvent& a, const StreamEvent& b) {
      return std::tie(a.stage, a.stream, a.start_s) < std::tie(b.stage, b.stream, b.start_s);
    });
    return std::move(events_);
  }

 private:
  void add(const GraphNode& node, double start_s) {
    switch (node.work) {
      case Work::kForward:
      case Work::kInputGradient:
      case Work::kWeightGradient:
        add_pass(node, start_s);
        return;
      case Work::kTransfer:
        add_transfer(node, start_s);
        return;
      case Work::kGather:
      case Work::kReduce:
        if (node.stage < layout_.pp && node.seconds > 0) add_data_parallel(node, start_s);
        return;
      case Work::kOptimizer:
        return;
    }
  }

  // Kernels, then the waits, in the order of the parts.
  void add_pass(const GraphNode& node, double start_s) {
    const PartTimes waited = pass_parts(node, step_.chunks);
    const PartTimes busy = pass_parts(node, links_);
    for (const Kind& kind : kKinds) {
      const double busy_s = std::max(busy[kind.part], waited[kind.part]);
      if (busy_s <= 0) continue;
      double end_s = start_s;
      for (std::size_t i = 0; i <= static_cast<std::size_t>(kind.part); ++i) end_s += waited.seconds[i];
      // What nothing waits for may go on until the pass ends.
      if (waited[kind.part] <= 0) end_s = start_s + node.seconds;
      push(kind.stream, path_part_name(static_cast<PathPart>(kind.part)), node,
           std::max(start_s, end_s - busy_s), end_s, busy_s, waited[kind.part]);
    }
  }

  PartTimes pass_parts(const GraphNode& node, const std::vector<BlockTime>& chunks) const {
    const auto chunk = static_cast<std::size_t>(node.chunk) * static_cast<std::size_t>(layout_.pp) +
                       static_cast<std::size_t>(node.stage);
    if (node.work == Work::kForward) return chunks[chunk][Pass::kForward];
    if (node.work == Work::kWeightGradient) return chunks[chunk][Pass::kWeightGradient];
    PartTimes parts = chunks[chunk][Pass::kInputGradient];
    if (!step_.splits_backward) parts.add(chunks[chunk][Pass::kWeightGradient]);
    return parts;
  }

  // On the sender's time or on a link of its own; forwards and backwards go opposite ways.
  void add_transfer(const GraphNode& node, double start_s) {
    const bool link = node.resource > layout_.pp;
    const bool forward = is_forward(node);
    push(forward ? Stream::kPipelineForward : Stream::kPipelineBackward, "pipeline_transfer", node, start_s,
         start_s + node.seconds, node.seconds, link ? 0 : node.seconds);
  }

  // The node before a transfer of its stage is the pass that it carries on.
  bool is_forward(const GraphNode& transfer) const {
    const auto at = static_cast<std::size_t>(&transfer - step_.graph.nodes().data());
    return step_.graph.nodes()[at - 1].work == Work::kForward;
  }

  // Beside compute: what the receiver does meanwhile is its own affair.
  void add_flight(const GraphEdge& edge) {
    const GraphNode& sender = step_.graph.nodes()[static_cast<std::size_t>(edge.before)];
    const GraphNode& receiver = step_.graph.nodes()[static_cast<std::size_t>(edge.after)];
    const bool forward =
        receiver.work == Work::kForward || (receiver.work == Work::kGather && sender.work == Work::kForward);
    const double start_s = step_.timeline.start_s[static_cast<std::size_t>(edge.before)] + sender.seconds;
    push(forward ? Stream::kPipelineForward : Stream::kPipelineBackward, "pipeline_transfer", sender, start_s,
         start_s + edge.delay_s, edge.delay_s, 0);
  }

  // What is hidden lies under the pass that follows; of the step's last reduction, under those before it.
  void add_data_parallel(const GraphNode& node, double start_s) {
    const StageEnds& ends = step_.ends[static_cast<std::size_t>(node.stage)];
    const bool gathers = node.work == Work::kGather;
    const bool last = !gathers && ends.every_backward_s <= 0;
    double all_s = gathers ? ends.all_gathers_s : ends.all_reduces_s;
    if (!gathers && !last && layout_.zero == 3) all_s += ends.all_gathers_s;
    all_s = std::max(all_s, node.seconds);
    const std::string_view name = gathers ? "parameter_gather" : "gradient_reduce";
    if (last) {
      const double end_s = start_s + node.seconds;
      push(Stream::kDataParallel, name, node, std::max(0.0, end_s - all_s), end_s, all_s, node.seconds);
      return;
    }
    const auto at = static_cast<std::size_t>(&node - step_.graph.nodes().data());
    const double most_s = node.seconds + step_.graph.nodes()[at + 1].seconds;
    push(Stream::kDataParallel, name, node, start_s, start_s + std::min(all_s, most_s), all_s, node.seconds);
  }

  void push(Stream stream, std::string_view name, const GraphNode& node, double start_s, double end_s,
            double busy_s, double waited_s) {
    events_.push_back(
        {name, stream, node.stage, node.chunk, node.micro_batch, start_s, end_s - start_s, busy_s, waited_s});
  }

  const StepGraph& step_;
  const Layout& layout_;
  const std::vector<BlockTime>& links_;
  std::vector<StreamEvent> events_;
};

}  // namespace

std::string_view stream_name(Stream stream) {
  return kNames[static_cast<std::size_t>(stream)];
}

std::vector<StreamEvent> stream_events(const StepGraph& step, const Layout& layout,
                                       const std::vector<BlockTime>& links) {
  return Streams(step, layout, links).take();
}

std::vector<BlockTime> chunk_link_times(const Model& model, const Recipe& recipe, const Layout& layout,
                                        const Hardware& hardware, const FrameworkProfile& framework) {
  const BlockTimes times = link_times(model, recipe, layout, hardware, framework);
  const StageSplit split = split_layers(model, layout, framework.split);
  std::vector<BlockTime> chunks;
  for (int chunk = 0; chunk < split.chunks; ++chunk)
    chunks.push_back(chunk_time(times, chunk_blocks(model, split, chunk)));
  return chunks;
}

}  // namespace trainfront::costmodel
