#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "costmodel/graph.hpp"
#include "costmodel/layer_time.hpp"
#include "costmodel/stage_ends.hpp"
#include "costmodel/step_time.hpp"

namespace trainfront::costmodel {

// One training step as an execution graph: the flush of every stage, before it the gathers that nothing
// hides, after it what is left of the gradient reduction, then the optimiser. Resource s is the compute
// stream of stage s; the last resource is the end that all stages wait for.
struct StepGraph {
  Graph graph{1};
  Timeline timeline;
  std::vector<BlockTime> chunks;  // one micro-batch through chunk v * pp + stage, by pass and part
  std::vector<StageEnds> ends;    // by stage
  bool splits_backward = false;
  double outer_sync_s = 0;  // islands: comes on top, shared out over the steps
};

// Nodes of the graph: for deciding whether to build it. About 64 bytes each.
std::int64_t step_graph_nodes(const Layout& layout, std::int64_t global_batch);

// layout.dp counts. timeline.length_s + outer_sync_s equals step_time(...).with_stacks(1) up to rounding
// where the schedule's closed form is exact and the first stage's communication is the last to end. Elsewhere
// the closed form lies below by the schedule's gap (pipeline_time.hpp), or above, by up to a later stage's
// reduction that it cannot see hidden: within 0.5 % and 1.5 % on layouts of Llama, Qwen and DeepSeek shapes.
StepGraph step_graph(const Model& model, const Recipe& recipe, const Layout& layout,
                     std::int64_t global_batch, const Hardware& hardware, const FrameworkProfile& framework,
                     const Islands& islands);

}  // namespace trainfront::costmodel
