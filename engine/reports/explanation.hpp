#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/breakdown.hpp"
#include "costmodel/memory.hpp"
#include "costmodel/part_evidence.hpp"
#include "costmodel/step_streams.hpp"
#include "engine/reports/plan_row.hpp"
#include "engine/reports/run_parts.hpp"
#include "search/host_rules.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// A feasible plan taken apart. Every list of parts sums to its total, up to rounding.
struct Explanation {
  std::string status = "done";  // as of `plan`: "deadline_missed" if this is but the plan nearest to the goal
  std::string criterion;        // what it was chosen by; empty: the user named it
  PlanRow row;
  std::vector<Amount> step_s;  // sums to the step time
  // What the step's time rests on, by its two halves.
  costmodel::Evidence layers_evidence = costmodel::Evidence::kCalibrated;    // layers, pipeline transfers
  costmodel::Evidence replicas_evidence = costmodel::Evidence::kCalibrated;  // data parallelism, optimiser
  std::vector<costmodel::PartEvidence> part_evidence;                        // and part by part
  std::string framework_profile;
  // With a host that is never late: what newer software may come to, were it as fast as its GPUs.
  double step_without_host_s = 0;
  double mfu_full_attention = 0;  // as row.mfu, all of the scores counted
  costmodel::MemoryUse memory;
  std::vector<Amount> memory_bytes;
  RunParts run;
  // The mean time by the form of `redundancy`, which knows of failures that share a step and of runs of few
  // cycles, and costs too much to search by; nothing where there is none (docs/failures.md).
  std::optional<double> refined_mean_s;
  bool refined_is_rough = false;  // faults::PreciseTime::is_rough
  search::HostNeed host;
  std::vector<costmodel::PathShare> critical_path;  // empty if the step's graph is too large to build
  std::string bottleneck;                           // in words; empty likewise
  double graph_s = 0;                               // length of that path; 0 likewise
  std::vector<costmodel::Sensitivity> sensitivities;
  std::vector<costmodel::StepEvent> events;  // only if asked for, as are the links'
  std::vector<costmodel::StreamEvent> streams;
};
Explanation explain_plan(const search::Space& space, std::uint64_t index, bool with_events);

std::string explanation_json(const search::Space& space, const Explanation& explanation);
std::string explanation_text(const search::Space& space, const Explanation& explanation);

// The step in the Trace Event Format (JSON) that Perfetto and chrome://tracing read: a process a stage, in it
// a thread for what computes and one for the links of each kind of parallelism.
std::string trace_json(const Explanation& explanation);

}  // namespace trainfront::engine
