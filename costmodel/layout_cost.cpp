#include <algorithm>
#include <vector>

#include "costmodel/operation_builder.hpp"
#include "costmodel/parameters.hpp"
#include "costmodel/segment.hpp"
#include "costmodel/stage_load.hpp"
#include "costmodel/step_time.hpp"

namespace trainfront::costmodel {
namespace {

bool alike(const StageRun& run, const StageTime& time, const LocalParameters& parameters) {
  return run.time.forward_s == time.forward_s && run.time.input_gradient_s == time.input_gradient_s &&
         run.time.weight_gradient_s == time.weight_gradient_s && run.parameters.dense == parameters.dense &&
         run.parameters.expert == parameters.expert;
}

void append_run(LayoutCost& cost, const StageTime& time, const LocalParameters& parameters) {
  if (cost.run_count > 0) {
    StageRun& last = cost.runs[static_cast<std::size_t>(cost.run_count - 1)];
    if (alike(last, time, parameters)) {
      last.stages += 1;
      return;
    }
    if (cost.run_count == LayoutCost::kMaxRuns) {
      last.stages += 1;
      last.time.forward_s = std::max(last.time.forward_s, time.forward_s);
      last.time.input_gradient_s = std::max(last.time.input_gradient_s, time.input_gradient_s);
      last.time.weight_gradient_s = std::max(last.time.weight_gradient_s, time.weight_gradient_s);
      last.parameters.dense = std::max(last.parameters.dense, parameters.dense);
      last.parameters.expert = std::max(last.parameters.expert, parameters.expert);
      return;
    }
  }
  cost.runs[static_cast<std::size_t>(cost.run_count++)] = {1, time, parameters};
}

double transfer_stall_s(const Layout& layout, const FrameworkProfile& framework) {
  const Stalls& stalls = framework.stalls;
  if (stalls.seconds <= 0) return 0;
  const bool large = layout.gpus() >= stalls.from_gpus || layout.tp >= stalls.from_tensor_degree;
  const bool sharded =
      layout.zero > 0 && layout.dp >= stalls.from_replicas && layout.gpus() >= stalls.sharded_from_gpus;
  const bool unsharded = layout.zero == 0 && layout.dp > 1 && layout.dp < stalls.unsharded_below_replicas &&
                         layout.gpus() >= stalls.unsharded_from_gpus &&
                         layout.gpus() <= stalls.unsharded_to_gpus;
  return large || sharded || unsharded ? stalls.seconds : 0;
}

std::vector<StageTime> stage_sums(const std::vector<StageTime>& chunks, int stages) {
  std::vector<StageTime> sums(chunks.begin(), chunks.begin() + stages);
  for (std::size_t chunk = static_cast<std::size_t>(stages); chunk < chunks.size(); ++chunk) {
    StageTime& sum = sums[chunk % static_cast<std::size_t>(stages)];
    sum.forward_s += chunks[chunk].forward_s;
    sum.input_gradient_s += chunks[chunk].input_gradient_s;
    sum.weight_gradient_s += chunks[chunk].weight_gradient_s;
  }
  return sums;
}

}  // namespace

LayoutCost layout_cost(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework, const BlockTimes& times) {
  const StageLoads loads = stage_loads(model, layout, framework, times);
  LayoutCost cost;
  cost.layout = layout;
  cost.hardware = &hardware;
  cost.framework = &framework;
  cost.total_parameters = static_cast<double>(count_parameters(model).total);
  cost.units = model.layers / layout.pp + 1;
  if (!has_runs_for(framework, model.is_moe())) cost.evidence = Evidence::kExtrapolated;
  for (const BlockTime* block : {&times.dense, &times.moe, &times.embedding, &times.head, &times.mtp}) {
    cost.evidence = worst(cost.evidence, block->evidence);
  }

  const std::vector<StageTime> sums = stage_sums(loads.chunks, layout.pp);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    append_run(cost, sums[s], loads.parameters[s]);
    cost.largest.dense = std::max(cost.largest.dense, loads.parameters[s].dense);
    cost.largest.expert = std::max(cost.largest.expert, loads.parameters[s].expert);
  }

  const double tokens = static_cast<double>(layout.micro_batch) * recipe.sequence_length / layout.cp;
  const double hidden_bytes = tokens * model.hidden * kActivationBytes / (layout.sp ? layout.tp : 1);
  const bool scatters = framework.scatters_transfers && !layout.sp && layout.tp > 1;
  const double sent_bytes = scatters ? hidden_bytes / layout.tp : hidden_bytes;
  const double gather_s =
      scatters ? collective_time(hardware, Collective::kAllGather, hidden_bytes,
                                 place_group(1, layout.tp, segment_gpus(layout, hardware.domain_gpus)))
                     .seconds
               : 0;
  const double table_bytes =
      model.tied_embeddings ? framework.gradient_bytes * embedding_parameters(model, layout) : 0;
  for (const bool crosses : {false, true}) {
    if (!crosses && layout.group_gpus() > hardware.domain_gpus) continue;  // can never lie in one domain
    LayoutCost::Placed& placed = crosses ? cost.far : cost.near;
    const bool overlaps = transfers_overlap(layout, framework);
    if (layout.pp > 1) {
      const Placement pair{2, crosses ? 2 : 1, crosses ? 1 : 2};
      const Timed transfer = collective_time(hardware, Collective::kSendRecv, sent_bytes, pair);
      const double delay_s = crosses ? hardware.network.delay_s : 0;
      placed.transfer_s =
          transfer.seconds + gather_s + framework.transfer_extra_s + transfer_stall_s(layout, framework);
      // A blocking transfer is a rendezvous: that the receiver is ready travels first.
      if (!overlaps) placed.transfer_s += delay_s;
      if (overlaps && layout.vpp == 1) placed.flight_s = delay_s;
      placed.tied_table_s = collective_time(hardware, Collective::kAllReduce, table_bytes, pair).seconds;
      if (crosses) cost.evidence = worst(cost.evidence, transfer.evidence);
    }
    placed.curve = pipeline_curve(layout.schedule, loads.chunks, layout.pp,
                                  placed.transfer_s - placed.flight_s, overlaps, placed.flight_s);
  }
  return cost;
}

LayoutCost layout_cost(const Model& model, const Recipe& recipe, const Layout& layout,
                       const Hardware& hardware, const FrameworkProfile& framework) {
  return layout_cost(model, recipe, layout, hardware, framework,
                     block_times(model, recipe, layout, hardware, framework));
}

}  // namespace trainfront::costmodel
