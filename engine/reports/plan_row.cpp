#include "engine/reports/plan_row.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "costmodel/flops.hpp"
#include "costmodel/framework_profile.hpp"
#include "engine/errors.hpp"
#include "engine/reports/names.hpp"
#include "inputs/catalog.hpp"
#include "search/evaluate.hpp"

namespace trainfront::engine {
namespace {

bool is_useful(std::string_view part) {
  return part == "gemm" || part == "attention";
}

// What is left of a difference of equal times is nothing.
void drop_residues(costmodel::StepParts& parts) {
  using Parts = costmodel::StepParts;
  const double residue_s = kResidue * parts.total();
  for (const auto part :
       {&Parts::gemm_s, &Parts::attention_s, &Parts::memory_bound_s, &Parts::tensor_parallel_s,
        &Parts::context_parallel_s, &Parts::expert_parallel_s, &Parts::pipeline_transfer_s, &Parts::bubble_s,
        &Parts::data_parallel_s, &Parts::optimizer_s, &Parts::host_s, &Parts::outer_sync_s}) {
    if (std::abs(parts.*part) <= residue_s) parts.*part = 0;
  }
}

std::string_view largest(const std::vector<NamedPart>& parts, bool overheads_only) {
  std::string_view name;
  double most_s = -std::numeric_limits<double>::infinity();
  for (const NamedPart& part : parts) {
    if ((overheads_only && is_useful(part.name)) || part.seconds <= most_s) continue;
    name = part.name;
    most_s = part.seconds;
  }
  return name;
}

class JsonSink : public FieldSink {
 public:
  explicit JsonSink(JsonWriter& json) : json_(json) {}
  void text(std::string_view name, std::string_view value) override { json_.field(name, value); }
  void real(std::string_view name, double value) override { json_.field(name, value); }
  void integer(std::string_view name, std::int64_t value) override { json_.field(name, value); }
  void truth(std::string_view name, bool value) override { json_.field(name, value); }

 private:
  JsonWriter& json_;
};

}  // namespace

std::vector<NamedPart> named_parts(const costmodel::StepParts& parts) {
  return {{"gemm", parts.gemm_s},
          {"attention", parts.attention_s},
          {"memory_bound", parts.memory_bound_s},
          {"tensor_parallel", parts.tensor_parallel_s},
          {"context_parallel", parts.context_parallel_s},
          {"expert_parallel", parts.expert_parallel_s},
          {"pipeline_transfer", parts.pipeline_transfer_s},
          {"bubble", parts.bubble_s},
          {"data_parallel", parts.data_parallel_s},
          {"optimizer", parts.optimizer_s},
          {"host", parts.host_s},
          {"outer_sync", parts.outer_sync_s}};
}

PlanRow plan_row(const search::Space& space, std::uint64_t index) {
  const search::Problem& problem = space.problem();
  PlanRow row;
  row.id = std::to_string(index);
  row.plan = space.decode(index);
  row.outcome = search::evaluate(space, index);
  const search::HardwareClass& rented = problem.hardware[static_cast<std::size_t>(row.plan.hardware)];
  row.offer = rented.offers[static_cast<std::size_t>(row.plan.offer)];

  const double tokens = static_cast<double>(row.plan.global_batch) * problem.recipe.sequence_length;
  row.tokens_per_s_per_gpu = tokens / row.outcome.step_time_s / static_cast<double>(row.plan.gpus);
  const costmodel::Device& device = rented.hardware.device;
  const double flops = costmodel::training_flops_per_token(problem.model, problem.recipe.sequence_length,
                                                           costmodel::AttentionCount::kCausal)
                           .total();
  row.mfu = costmodel::model_flops_utilization(
      flops, row.tokens_per_s_per_gpu, costmodel::dense_peak_flops_per_s(device, problem.recipe.precision));
  if (row.mfu > 1) {
    throw UsageError(fmt::format(
        "plan {} would compute at {:.3g} times the dense peak of {}: its profile or data sheet must be wrong",
        row.id, row.mfu, device.id));
  }

  const search::Outcome& outcome = row.outcome;
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    row.quantiles_s[i] = faults::quantile_s(outcome.spread, kQuantiles[i]);
    row.quantiles_usd[i] = costmodel::bill_usd(row.offer, outcome.nodes, row.quantiles_s[i]);
  }
  row.mean_usd = costmodel::bill_usd(row.offer, outcome.nodes, outcome.spread.mean_s);

  row.fit = costmodel::memory_fit(outcome.memory_bytes, device);
  const costmodel::FrameworkProfile& framework = costmodel::default_profile(row.plan.layout.framework);
  row.framework_profile = framework.name;
  row.framework_has_runs = costmodel::has_runs_for(framework, problem.model.is_moe());
  row.step = costmodel::step_parts(problem.model, problem.recipe, row.plan.layout, row.plan.global_batch,
                                   rented.hardware, framework, row.plan.islands);
  drop_residues(row.step);
  const std::vector<NamedPart> parts = named_parts(row.step);
  row.bottleneck = largest(parts, false);
  row.top_overhead = largest(parts, true);
  return row;
}

std::vector<PlanRow> plan_rows(const search::Space& space, const search::Front& front) {
  std::vector<PlanRow> rows;
  rows.reserve(front.points().size());
  for (const search::Point& point : front.points()) rows.push_back(plan_row(space, point.index));
  return rows;
}

void write_fields(const PlanRow& row, FieldSink& sink) {
  const search::Plan& plan = row.plan;
  const costmodel::Layout& layout = plan.layout;
  const search::Outcome& outcome = row.outcome;
  sink.text("id", row.id);
  sink.real("time_to_train_s", outcome.time_to_train_s);
  sink.real("cost_usd", outcome.cost_usd);
  sink.text("provider", row.offer.provider);
  sink.text("region", row.offer.region);
  sink.text("instance", row.offer.instance);
  sink.text("price_model", inputs::price_model_name(row.offer.price_model));
  sink.text("device", row.offer.device);
  sink.integer("gpus", plan.gpus);
  sink.integer("nodes", outcome.nodes);
  sink.text("framework", name(layout.framework));
  sink.integer("tp", layout.tp);
  sink.truth("sp", layout.sp);
  sink.integer("cp", layout.cp);
  sink.text("cp_type", cp_type_name(layout));
  sink.integer("cp_heads", layout.head_ranks());
  sink.integer("pp", layout.pp);
  sink.integer("vpp", layout.vpp);
  sink.integer("ep", layout.ep);
  sink.integer("etp", layout.etp);
  sink.integer("dp", layout.dp);
  sink.integer("zero", layout.zero);
  sink.integer("shard_group", layout.shard_group);
  sink.integer("micro_batch", layout.micro_batch);
  sink.integer("global_batch", plan.global_batch);
  sink.text("recompute", name(layout.recompute));
  sink.text("recompute_modules", modules_name(layout));
  sink.text("schedule", name(layout.schedule));
  sink.text("protection", name(plan.protection.scheme));
  sink.integer("r", plan.protection.r);
  sink.integer("sub_shards", plan.protection.sub_shards);
  sink.integer("spares", outcome.nodes - costmodel::nodes_for(plan.gpus, row.offer.gpus_per_node));
  sink.integer("k_max", outcome.k_max);
  sink.truth("rejoin", plan.protection.rejoins);
  sink.text("checkpoint_tier", name(plan.protection.tier));
  sink.integer("islands", plan.islands.count);
  sink.integer("inner_steps", plan.islands.inner_steps);
  sink.real("step_time_s", outcome.step_time_s);
  sink.real("tokens_per_s_per_gpu", row.tokens_per_s_per_gpu);
  sink.real("mfu", row.mfu);
  sink.real("memory_bytes", outcome.memory_bytes);
  sink.real("memory_margin", 1 - outcome.memory_bytes / outcome.memory_capacity_bytes);
  sink.text("memory_fit", costmodel::fit_name(row.fit));
  sink.real("checkpoint_interval_s", outcome.checkpoint_interval_s);
  sink.real("shared_checkpoint_interval_s", outcome.shared_interval_s);
  sink.real("availability", outcome.availability);
  sink.real("goodput", outcome.goodput);
  sink.text("bottleneck", row.bottleneck);
  sink.text("top_overhead", row.top_overhead);
  sink.text("evidence", name(outcome.evidence));
  sink.text("framework_profile", row.framework_profile);
  sink.real("usd_per_node_hour", row.offer.usd_per_node_hour);
  sink.text("price_source", row.offer.source);
  sink.text("price_as_of", row.offer.as_of);
  sink.text("zone", row.offer.zone);
  sink.real("egress_usd", row.offer.transfer_usd);
  sink.real("time_mean_s", outcome.spread.mean_s);
  sink.real("time_p10_s", row.quantiles_s[0]);
  sink.real("time_p50_s", row.quantiles_s[1]);
  sink.real("time_p90_s", row.quantiles_s[2]);
  sink.real("time_p95_s", row.quantiles_s[3]);
  sink.real("cost_mean_usd", row.mean_usd);
  sink.real("cost_p10_usd", row.quantiles_usd[0]);
  sink.real("cost_p50_usd", row.quantiles_usd[1]);
  sink.real("cost_p90_usd", row.quantiles_usd[2]);
  sink.real("cost_p95_usd", row.quantiles_usd[3]);
  sink.real("failure_cycles", outcome.spread.cycles);
  sink.real("steps_per_failure", outcome.steps_per_failure);
}

void write_row(const PlanRow& row, JsonWriter& json) {
  JsonSink sink(json);
  write_fields(row, sink);
}

}  // namespace trainfront::engine
