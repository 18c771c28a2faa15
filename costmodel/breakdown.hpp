#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "costmodel/step_graph.hpp"

namespace trainfront::costmodel {

// What a stretch of the critical path is spent on: a pass's parts, and what lies between passes.
enum class PathPart : std::uint8_t {
  kGemm,
  kAttention,
  kMemoryBound,
  kTensorParallel,
  kContextParallel,
  kExpertParallel,
  kHost,
  kTransfer,
  kDataParallel,
  kOptimizer,
  kOuterSync
};
inline constexpr int kPathParts = 11;

// "tensor_parallel": the names that StepParts' members have, without the unit.
std::string_view path_part_name(PathPart part);

// Seconds of the critical path that one stage spends on one part. stage == pp: what all stages wait for
// together.
struct PathShare {
  int stage = 0;
  PathPart part = PathPart::kGemm;
  double seconds = 0;
};

// The step's critical path by stage and part, largest first; zero entries left out. The seconds sum to
// step.timeline.length_s + step.outer_sync_s.
std::vector<PathShare> path_shares(const StepGraph& step, const Layout& layout);

// The largest share in words: "stage 0 spends 18 % of the step waiting for tensor-parallel
// all-gather and reduce-scatter over NVLink".
std::string bottleneck_words(const std::vector<PathShare>& shares, const Layout& layout,
                             const Hardware& hardware);

// How much shorter the step gets when one resource gets 10 % faster, as a fraction of the step.
enum class Resource : std::uint8_t { kCompute, kMemory, kLink, kNetwork, kHost };
inline constexpr int kResources = 5;
struct Sensitivity {
  Resource resource = Resource::kCompute;
  double saved = 0;
};
// "memory bandwidth"
std::string_view resource_name(Resource resource);
// All resources, the most worthwhile first.
std::vector<Sensitivity> sensitivities(const Model& model, const Recipe& recipe, const Layout& layout,
                                       std::int64_t global_batch, const Hardware& hardware,
                                       const FrameworkProfile& framework, const Islands& islands);

// The step's events for a trace viewer, in order of stage and start.
struct StepEvent {
  std::string_view name;  // "forward", "input_gradient", ...
  int stage = 0;          // pp: all stages together
  int chunk = 0;
  int micro_batch = 0;
  double start_s = 0;
  double seconds = 0;
  bool critical = false;  // on the longest path
  PartTimes parts = {};   // of a pass, kernels and the communication that they do not hide; else nothing
};
std::vector<StepEvent> step_events(const StepGraph& step, const Layout& layout);

}  // namespace trainfront::costmodel
