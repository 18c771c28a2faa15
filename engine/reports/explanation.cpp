#include "engine/reports/explanation.hpp"

#include <cmath>

#include "costmodel/framework_profile.hpp"
#include "costmodel/step_graph.hpp"
#include "search/environment.hpp"

namespace trainfront::engine {
namespace {

// A graph of so many nodes takes about half a second and 64 MB.
constexpr std::int64_t kMostNodes = 1'000'000;

std::vector<Amount> amounts(const costmodel::MemoryParts& parts) {
  return {{"weights", parts.weights},         {"gradients", parts.gradients}, {"optimizer", parts.optimizer},
          {"activations", parts.activations}, {"logits", parts.logits},       {"buffers", parts.buffers},
          {"overhead", parts.overhead}};
}

// The failure-free steps by their parts, then what failures and the protection against them add.
std::vector<Amount> run_parts(const PlanRow& row, double steps) {
  const search::Outcome& outcome = row.outcome;
  std::vector<Amount> parts;
  double failure_free_s = 0;
  for (const NamedPart& part : named_parts(row.step)) {
    parts.push_back({std::string(part.name), part.seconds * steps});
    failure_free_s += part.seconds * steps;
  }
  const double down_s = outcome.time_to_train_s * (1 - outcome.availability);
  parts.push_back({"restarts_and_checkpoints", down_s});
  const double lost_s = outcome.time_to_train_s - failure_free_s - down_s;
  const bool residue = std::abs(lost_s) <= kResidue * outcome.time_to_train_s;
  parts.push_back({"redundancy_and_lost_work", residue ? 0 : lost_s});
  return parts;
}

// Every second costs all computing nodes; spares are paid for beside them.
std::vector<Amount> cost_parts(const PlanRow& row, const std::vector<Amount>& run_s, std::int64_t computing) {
  const double share = static_cast<double>(computing) / static_cast<double>(row.outcome.nodes);
  const double usd_per_s = row.outcome.cost_usd / row.outcome.time_to_train_s;
  std::vector<Amount> parts;
  for (const Amount& part : run_s) parts.push_back({part.name, part.value * usd_per_s * share});
  parts.push_back({"spare_nodes", row.outcome.cost_usd * (1 - share)});
  return parts;
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
  explanation.run_s = run_parts(row, search::steps_needed(problem.recipe, plan.global_batch));
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);
  explanation.run_usd = cost_parts(row, explanation.run_s, nodes);
  explanation.sensitivities = costmodel::sensitivities(problem.model, problem.recipe, plan.layout,
                                                       plan.global_batch, hardware, framework, plan.islands);
  if (costmodel::step_graph_nodes(plan.layout, plan.global_batch) > kMostNodes) return explanation;
  const costmodel::StepGraph step = costmodel::step_graph(
      problem.model, problem.recipe, plan.layout, plan.global_batch, hardware, framework, plan.islands);
  explanation.critical_path = costmodel::path_shares(step, plan.layout);
  explanation.bottleneck = costmodel::bottleneck_words(explanation.critical_path, plan.layout, hardware);
  if (with_events) explanation.events = costmodel::step_events(step);
  return explanation;
}

}  // namespace trainfront::engine
