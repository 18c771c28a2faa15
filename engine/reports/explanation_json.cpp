#include <fmt/core.h>

#include <cmath>

#include "engine/reports/explanation.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/reports/names.hpp"

namespace trainfront::engine {
namespace {

void write_amounts(std::string_view key, const std::vector<Amount>& parts, JsonWriter& json) {
  json.begin_object(key);
  for (const Amount& part : parts) json.field(part.name, part.value);
  json.end_object();
}

void write_evidence(const search::Space& space, const Explanation& explanation, JsonWriter& json) {
  const PlanRow& row = explanation.row;
  const search::HardwareClass& rented = space.problem().hardware[static_cast<std::size_t>(row.plan.hardware)];
  const costmodel::DeviceProfile& profile = rented.hardware.device.profile;
  json.begin_array("evidence");
  json.begin_object().field("quantity", "step time").field("rests_on", name(row.outcome.evidence));
  json.field("device_profile", profile.name).begin_array("sources");
  for (const std::string& source : profile.sources) json.value(source);
  json.end_array().field("framework_profile", explanation.framework_profile);
  json.field("framework_has_runs", row.framework_has_runs).end_object();
  for (const costmodel::PartEvidence& part : explanation.part_evidence) {
    json.begin_object().field("quantity", costmodel::path_part_name(part.part));
    json.field("rests_on", name(part.evidence)).end_object();
  }
  json.begin_object().field("quantity", "layers and pipeline");
  json.field("rests_on", name(explanation.layers_evidence)).end_object();
  json.begin_object().field("quantity", "data parallelism and optimizer");
  json.field("rests_on", name(explanation.replicas_evidence)).end_object();
  json.begin_object().field("quantity", "price").field("as_of", row.offer.as_of);
  json.field("source", row.offer.source).end_object();
  json.begin_object().field("quantity", "node MTBF");
  json.field("source", space.problem().failures.node_mtbf_source).end_object().end_array();
}

}  // namespace

std::string explanation_json(const search::Space& space, const Explanation& explanation) {
  const PlanRow& row = explanation.row;
  JsonWriter json;
  json.begin_object().field("status", explanation.status);
  if (!explanation.criterion.empty()) json.field("criterion", explanation.criterion);
  json.begin_object("plan");
  write_row(row, json);
  json.end_object();

  json.begin_object("step").field("total_s", row.outcome.step_time_s);
  write_amounts("parts", explanation.step_s, json);
  json.field("bottleneck", explanation.bottleneck);
  json.field("without_host_s", explanation.step_without_host_s);
  json.field("mfu", row.mfu).field("mfu_full_attention", explanation.mfu_full_attention).end_object();

  json.begin_object("memory").field("total_bytes", explanation.memory.parts.total());
  json.field("capacity_bytes", row.outcome.memory_capacity_bytes);
  json.field("worst_stage", explanation.memory.worst_stage);
  json.field("fit", costmodel::fit_name(explanation.row.fit));
  write_amounts("parts", explanation.memory_bytes, json);
  json.end_object();

  const auto known = [&](std::string_view name, double bytes) {
    json.key(name);
    bytes > 0 ? json.value(bytes) : json.null();
  };
  json.begin_object("host").field("checkpoint_bytes", explanation.host.checkpoint_bytes);
  json.field("input_bytes", explanation.host.input_bytes);
  known("memory_bytes", row.offer.host_memory_bytes);
  json.field("disk_checkpoint_bytes", explanation.host.disk_bytes);
  known("disk_bytes", row.offer.local_disk_bytes);
  json.end_object();

  json.begin_object("run").field("time_to_train_s", row.outcome.time_to_train_s);
  json.field("cost_usd", row.outcome.cost_usd);
  json.key("refined_mean_s");
  if (explanation.refined_mean_s) {
    json.value(*explanation.refined_mean_s);
  } else {
    json.null();
  }
  json.field("refined_is_rough", explanation.refined_is_rough);
  write_amounts("parts_s", explanation.run.parts_s, json);
  write_amounts("parts_usd", explanation.run.parts_usd, json);
  write_amounts("losses_s", explanation.run.losses_s, json);
  write_amounts("losses_usd", explanation.run.losses_usd, json);
  json.end_object();

  if (explanation.graph_s > 0) json.field("critical_path_s", explanation.graph_s);
  json.begin_array("critical_path");
  for (const costmodel::PathShare& share : explanation.critical_path) {
    json.begin_object().key("stage");
    if (share.stage == row.plan.layout.pp) {
      json.null();  // all stages together
    } else {
      json.value(share.stage);
    }
    json.field("part", costmodel::path_part_name(share.part));
    json.field("seconds", share.seconds).end_object();
  }
  json.end_array().begin_array("sensitivity");
  for (const costmodel::Sensitivity& each : explanation.sensitivities) {
    json.begin_object().field("resource", costmodel::resource_name(each.resource));
    json.field("saved_by_10_percent_more", each.saved).end_object();
  }
  json.end_array();
  write_evidence(space, explanation, json);
  return json.end_object().take();
}

}  // namespace trainfront::engine
