#include "engine/reports/explanation.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/flops.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/step_graph.hpp"
#include "faults/refined_time.hpp"
#include "search/environment.hpp"
#include "search/plan_run.hpp"

namespace trainfront::engine {
namespace {

// A graph of so many nodes takes about half a second and 64 MB.
constexpr std::int64_t kMostNodes = 1'000'000;

std::vector<Amount> amounts(const costmodel::MemoryParts& parts) {
  return {{"weights", parts.weights},         {"gradients", parts.gradients}, {"optimizer", parts.optimizer},
          {"activations", parts.activations}, {"logits", parts.logits},       {"buffers", parts.buffers},
          {"overhead", parts.overhead}};
}

void refine_mean(const search::Problem& problem, const PlanRow& row, Explanation& explanation) {
  const faults::Protection& protection = row.plan.protection;
  if (protection.scheme == faults::Scheme::kNone || protection.rejoins) return;
  const search::PlanRun run = search::plan_run(problem, row.plan);
  faults::Simulation system;
  system.units = run.unit.units;
  system.protection = protection;
  system.protection.k_max = row.outcome.k_max;
  system.law = run.law;
  system.state_copies = run.state_copies;
  system.step = run.step;
  system.environment = run.environment;
  system.checkpoint_every = -1;
  // Whole steps, over which the time is in proportion.
  system.steps = std::max<std::int64_t>(1, std::llround(run.steps));
  const faults::PreciseTime time = faults::refined_time(system).time;
  if (!std::isfinite(time.time_s)) return;
  explanation.refined_mean_s = time.time_s * run.steps / static_cast<double>(system.steps);
  explanation.refined_is_rough = time.is_rough;
}

}  // namespace

Explanation explain_plan(const search::Space& space, std::uint64_t index, bool with_events) {
  const search::Problem& problem = space.problem();
  Explanation explanation;
  explanation.row = plan_row(space, index);
  const PlanRow& row = explanation.row;
  const search::Plan& plan = row.plan;
  const costmodel::Hardware& hardware = problem.hardware[static_cast<std::size_t>(plan.hardware)].hardware;
  const costmodel::FrameworkProfile& framework = costmodel::default_profile(plan.layout.framework);

  for (const NamedPart& part : named_parts(row.step)) {
    explanation.step_s.push_back({std::string(part.name), part.seconds});
  }
  const costmodel::LayoutCost cost =
      costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware, framework);
  explanation.layers_evidence = cost.evidence;
  explanation.replicas_evidence =
      costmodel::data_parallel_cost(cost, plan.layout.dp, plan.islands.count).evidence;
  explanation.memory = costmodel::memory_use(problem.model, problem.recipe, plan.layout, plan.global_batch);
  explanation.memory_bytes = amounts(explanation.memory.parts);
  explanation.part_evidence =
      costmodel::part_evidence(problem.model, problem.recipe, plan.layout, hardware, framework);
  explanation.framework_profile = framework.name;
  const costmodel::FrameworkProfile prompt_host = costmodel::without_host_floor(framework);
  explanation.step_without_host_s =
      costmodel::step_time(
          costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware, prompt_host),
          plan.layout.dp, plan.global_batch, plan.islands)
          .with_stacks(1);
  explanation.mfu_full_attention = costmodel::model_flops_utilization(
      costmodel::training_flops_per_token(problem.model, problem.recipe.sequence_length,
                                          costmodel::AttentionCount::kFull)
          .total(),
      row.tokens_per_s_per_gpu, costmodel::dense_peak_flops_per_s(hardware.device, problem.recipe.precision));
  explanation.run = run_parts(space, row);
  refine_mean(problem, row, explanation);
  explanation.host =
      search::host_need(problem, plan.protection, costmodel::nodes_for(plan.gpus, hardware.gpus_per_node),
                        hardware.gpus_per_node, search::checkpoint_bytes(problem.model, problem.recipe));
  explanation.sensitivities = costmodel::sensitivities(problem.model, problem.recipe, plan.layout,
                                                       plan.global_batch, hardware, framework, plan.islands);
  if (costmodel::step_graph_nodes(plan.layout, plan.global_batch) > kMostNodes) return explanation;
  const costmodel::StepGraph step = costmodel::step_graph(
      problem.model, problem.recipe, plan.layout, plan.global_batch, hardware, framework, plan.islands);
  explanation.critical_path = costmodel::path_shares(step, plan.layout);
  explanation.graph_s = step.timeline.length_s + step.outer_sync_s;
  explanation.bottleneck = costmodel::bottleneck_words(explanation.critical_path, plan.layout, hardware);
  if (!with_events) return explanation;
  explanation.events = costmodel::step_events(step, plan.layout);
  explanation.streams = costmodel::stream_events(
      step, plan.layout,
      costmodel::chunk_link_times(problem.model, problem.recipe, plan.layout, hardware, framework));
  return explanation;
}

}  // namespace trainfront::engine
