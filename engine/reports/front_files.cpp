#include "engine/reports/front_files.hpp"

#include "costmodel/legality.hpp"
#include "costmodel/parameters.hpp"
#include "engine/reports/names.hpp"
#include "inputs/csv.hpp"

namespace trainfront::engine {
namespace {

class HeaderSink : public FieldSink {
 public:
  void text(std::string_view name, std::string_view) override { names.emplace_back(name); }
  void real(std::string_view name, double) override { names.emplace_back(name); }
  void integer(std::string_view name, std::int64_t) override { names.emplace_back(name); }
  void truth(std::string_view name, bool) override { names.emplace_back(name); }
  std::vector<std::string> names;
};

class CsvSink : public FieldSink {
 public:
  void text(std::string_view, std::string_view value) override { fields.emplace_back(value); }
  void real(std::string_view, double value) override { fields.push_back(exact_decimal(value)); }
  void integer(std::string_view, std::int64_t value) override { fields.push_back(std::to_string(value)); }
  void truth(std::string_view, bool value) override { fields.emplace_back(value ? "true" : "false"); }
  std::vector<std::string> fields;
};

}  // namespace

std::string front_csv(std::span<const PlanRow> rows, bool partial) {
  HeaderSink header;
  write_fields(PlanRow{}, header);
  if (partial) header.truth("partial", true);
  std::string csv = inputs::csv_line(header.names);
  for (const PlanRow& row : rows) {
    CsvSink line;
    write_fields(row, line);
    if (partial) line.truth("partial", true);
    csv += inputs::csv_line(line.fields);
  }
  return csv;
}

void write_problem(const search::Space& space, JsonWriter& json) {
  const search::Problem& problem = space.problem();
  const costmodel::ParameterCounts parameters = costmodel::count_parameters(problem.model);
  json.begin_object("model").field("name", problem.model.name).field("layers", problem.model.layers);
  json.field("hidden", problem.model.hidden).field("parameters", parameters.total);
  json.field("active_parameters", parameters.active).end_object();

  json.begin_object("recipe").field("tokens", problem.recipe.tokens);
  json.field("sequence_length", problem.recipe.sequence_length);
  json.field("precision", name(problem.recipe.precision)).field("optimizer", name(problem.recipe.optimizer));
  json.field("critical_batch_tokens", problem.recipe.critical_batch_tokens);
  json.field("expert_imbalance", problem.recipe.expert_imbalance).end_object();

  json.begin_array("global_batch");
  for (const std::int64_t batch : problem.global_batches) json.value(batch);
  json.end_array().begin_array("gpus");
  for (const std::int64_t gpus : problem.gpus) json.value(gpus);
  json.end_array().begin_array("hardware");
  for (const search::HardwareClass& rented : problem.hardware) {
    json.begin_object().field("device", rented.hardware.device.id);
    json.field("gpus_per_node", rented.hardware.gpus_per_node);
    json.field("network", rented.hardware.network.kind).field("offers", rented.offers.size()).end_object();
  }
  json.end_array().key("probability");
  if (problem.goal.probability) {
    json.value(*problem.goal.probability);
  } else {
    json.null();
  }
  json.begin_array("protection");
  for (const faults::Protection& protection : problem.protections) {
    json.begin_object().field("scheme", name(protection.scheme)).field("r", protection.r);
    json.field("sub_shards", protection.sub_shards).field("spares", protection.spares);
    json.field("spares_per_1000", protection.spares_per_1000);
    json.field("k_max", protection.k_max).field("rejoin", protection.rejoins);
    json.field("checkpoint_tier", name(protection.tier)).end_object();
  }
  json.end_array();
}

void write_counts(const search::Counts& counts, std::size_t front, JsonWriter& json) {
  json.field("plans", counts.plans).begin_object("illegal");
  for (std::size_t rule = 0; rule < counts.illegal.size(); ++rule) {
    if (counts.illegal[rule] == 0) continue;
    json.field(costmodel::rule_name(static_cast<costmodel::Rule>(rule)), counts.illegal[rule]);
  }
  json.end_object().field("out_of_memory", counts.out_of_memory).field("non_finite", counts.non_finite);
  json.field("struck_too_often", counts.struck_too_often);
  json.field("front", front);
}

void write_remaining(const search::Space& space, const Remaining& remaining, JsonWriter& json) {
  json.field("partial", true).begin_object("remaining").field("plans", remaining.plans);
  json.field("share", remaining.share).begin_array("hardware");
  for (const Remaining::Part& part : remaining.parts) {
    const costmodel::Hardware& hardware =
        space.problem().hardware[static_cast<std::size_t>(part.hardware)].hardware;
    json.begin_object().field("device", hardware.device.id).field("gpus_per_node", hardware.gpus_per_node);
    json.field("network", hardware.network.kind).field("plans", part.plans).field("share", part.share);
    json.begin_array("gpus");
    for (const std::int64_t gpus : part.gpus) json.value(gpus);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

std::string front_json(const search::Space& space, const search::Counts& counts,
                       std::span<const PlanRow> rows, const Remaining* remaining) {
  JsonWriter json;
  json.begin_object().field("schema", 1);
  if (remaining != nullptr) write_remaining(space, *remaining, json);
  json.begin_object("problem");
  write_problem(space, json);
  json.end_object().begin_object("counts");
  write_counts(counts, rows.size(), json);
  json.end_object().begin_array("front");
  for (const PlanRow& row : rows) {
    json.begin_object();
    write_row(row, json);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace trainfront::engine
