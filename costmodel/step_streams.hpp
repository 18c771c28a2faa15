#pragma once

#include <string_view>
#include <vector>

#include "costmodel/breakdown.hpp"
#include "costmodel/link_times.hpp"

namespace trainfront::costmodel {

// What works at the same time on a stage's GPUs: kernels, and the links of each kind of parallelism.
enum class Stream : std::uint8_t {
  kCompute,
  kTensorParallel,
  kContextParallel,
  kExpertParallel,
  kDataParallel,
  kPipelineForward,  // to the next stage
  kPipelineBackward
};
inline constexpr int kStreams = 7;
std::string_view stream_name(Stream stream);

// A stretch of communication. It may run beside the compute stream's passes; the last (of parameter gathers:
// the first) waited_s of it is what that stream waits for.
struct StreamEvent {
  std::string_view name;  // "tensor_parallel", "pipeline_transfer", "gradient_reduce", "parameter_gather"
  Stream stream = Stream::kTensorParallel;
  int stage = 0;
  int chunk = 0;
  int micro_batch = 0;
  double start_s = 0;
  double seconds = 0;   // as drawn: no longer than the pass that it belongs to
  double busy_s = 0;    // of the links, all in all
  double waited_s = 0;  // of that, by the compute stream
};

// All communication of a step. The layers of a pass are lumped together: its kernels first, then what each
// kind of communication makes it wait for, and on that kind's own stream the whole of it, ending where the
// wait ends. By stage, stream and start. `links` is by chunk as step.chunks.
std::vector<StreamEvent> stream_events(const StepGraph& step, const Layout& layout,
                                       const std::vector<BlockTime>& links);

// By chunk, as StepGraph::chunks.
std::vector<BlockTime> chunk_link_times(const Model& model, const Recipe& recipe, const Layout& layout,
                                        const Hardware& hardware, const FrameworkProfile& framework);

}  // namespace trainfront::costmodel
