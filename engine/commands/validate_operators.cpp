#include "engine/commands/validate_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "costmodel/fit_attention.hpp"
#include "costmodel/fit_memory_bound.hpp"
#include "costmodel/fit_score.hpp"
#include "costmodel/gemm_form.hpp"
#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/reports/text_table.hpp"
#include "engine/terminal.hpp"
#include "inputs/catalog.hpp"
#include "inputs/csv.hpp"
#include "inputs/device_spelling.hpp"
#include "inputs/measurements.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Device;
using costmodel::Precision;

using inputs::kCollectiveNames;
using inputs::kMemoryBoundNames;

struct Row {
  std::string group;  // device, operation, precision
  std::string source;
  double measured_s = 0, predicted_s = 0;

  double error() const { return predicted_s / measured_s - 1; }
};

// The catalogue's network that a measurement's fabric is.
const inputs::NetworkEntry* network_of(const inputs::Catalog& catalog, const std::string& fabric) {
  struct Known {
    const char *text, *kind;
  };
  constexpr std::array<Known, 9> kKnown{{{"GCP a3-ultra", "gpudirect-rdma"},
                                         {"EFA 4x100", "efa-v1"},
                                         {"EFA 32x100", "efa-v2"},
                                         {"EFA", "efa-v4"},
                                         {"TCPXO", "gpudirect-tcpxo"},
                                         {"Slingshot", "slingshot-11"},
                                         {"NVL72", "nvl72-scale-out"},
                                         {"RoCE", "roce-v2"},
                                         {"IB", "infiniband"}}};
  for (const Known& known : kKnown) {
    if (fabric.find(known.text) != std::string::npos) return catalog.find_network(known.kind);
  }
  return nullptr;
}

void predict_device(const inputs::Catalog& catalog, const Device& device, const costmodel::Samples& samples,
                    std::map<std::string, std::size_t>& not_modelled, std::vector<Row>& rows) {
  const costmodel::DeviceProfile& profile = device.profile;
  const auto add = [&](std::string group, int source, double measured, double predicted) {
    rows.push_back({device.id + " " + std::move(group), samples.sources[static_cast<std::size_t>(source)],
                    measured, predicted});
  };
  for (const auto& sample : samples.gemm) {
    const bool fp8 = sample.precision == Precision::kFp8;
    add(fp8 ? "gemm fp8" : "gemm bf16", sample.source, sample.seconds,
        costmodel::gemm_burst(fp8 ? profile.fp8 : profile.bf16, sample.precision, device.compute_units,
                              sample.m, sample.n, sample.k));
  }
  for (const auto& sample : samples.attention) {
    add(sample.backward ? "attention_backward bf16" : "attention bf16", sample.source, sample.seconds,
        costmodel::predict(profile.attention, sample));
  }
  for (const auto& sample : samples.memory_bound) {
    const auto kind = static_cast<std::size_t>(sample.kind);
    add(fmt::format("{} bf16", kMemoryBoundNames[kind]), sample.source, sample.seconds,
        costmodel::predict(profile.memory_bound[kind], sample));
  }
  costmodel::Hardware hardware;
  hardware.device = device;
  for (const auto& sample : samples.collective) {
    const std::string_view name = kCollectiveNames[static_cast<std::size_t>(sample.collective)];
    const bool across = sample.placement.domains > 1;
    if (across) {
      const inputs::NetworkEntry* network =
          network_of(catalog, samples.fabrics[static_cast<std::size_t>(sample.fabric)]);
      if (network == nullptr) {
        ++not_modelled["collective across nodes on a fabric that is not in the catalogue"];
        continue;
      }
      hardware.network = network->network;
      hardware.network.nic_bytes_per_s = sample.nic_bytes_per_s;
    }
    add(fmt::format("{}{}", name, across ? " across nodes" : ""), sample.source, sample.seconds,
        costmodel::collective_time(hardware, sample.collective, sample.bytes, sample.placement).seconds);
  }
}

struct Group {
  std::vector<double> errors, ratios;
};

double median_signed(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

std::map<std::string, Group> group_by(const std::vector<Row>& rows, bool by_harness) {
  std::map<std::string, Group> groups;
  for (const Row& row : rows) {
    Group& group = groups[by_harness ? row.group + " of " + row.source : row.group];
    group.errors.push_back(row.error());
    group.ratios.push_back(row.measured_s / row.predicted_s);
  }
  return groups;
}

// Errors that remain after one factor for the harness.
costmodel::ErrorSummary after_scale(const Group& group) {
  const double scale = median_signed(group.ratios);
  std::vector<double> errors;
  for (const double ratio : group.ratios) errors.push_back(scale / ratio - 1);
  return costmodel::summarize(errors);
}

std::string rows_csv(const std::vector<Row>& rows) {
  std::string text = "id,source,quantity,measured,predicted,ape\n";
  std::size_t id = 0;
  for (const Row& row : rows) {
    text += inputs::csv_line({std::to_string(++id), row.source, row.group + " time_us",
                              fmt::format("{:.6g}", row.measured_s * 1e6),
                              fmt::format("{:.6g}", row.predicted_s * 1e6),
                              fmt::format("{:.4g}", 100 * std::abs(row.error()))});
  }
  return text;
}

std::string as_json(const inputs::Measurements& measurements, std::size_t bad_lines,
                    const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(row.error());
  const costmodel::ErrorSummary all = costmodel::summarize(errors);
  JsonWriter json;
  json.begin_object()
      .field("rows", measurements.rows)
      .field("predicted", rows.size())
      .field("bad_lines", bad_lines);
  json.begin_object("not_modelled");
  for (const auto& [reason, count] : measurements.not_modelled) json.field(reason, count);
  json.end_object().field("median_ape", all.median).field("mean_ape", all.mean);
  for (const bool by_harness : {false, true}) {
    json.begin_array(by_harness ? "by_harness" : "by_source");
    for (const auto& [name, group] : group_by(rows, by_harness)) {
      const costmodel::ErrorSummary summary = costmodel::summarize(group.errors);
      json.begin_object()
          .field("source", name)
          .field("rows", summary.count)
          .field("median_ape", summary.median);
      json.field("mean_ape", summary.mean).field("bias", 100 * median_signed(group.errors));
      if (by_harness) {
        json.field("scale", median_signed(group.ratios))
            .field("mean_ape_after_scale", after_scale(group).mean);
      }
      json.end_object();
    }
    json.end_array();
  }
  return json.end_object().take();
}

std::string as_text(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:<44} {:>7} {:>8} {:>8} {:>8}\n", "device, operation, precision", "rows",
                                 "mean %", "median %", "bias %");
  for (const auto& [name, group] : group_by(rows, false)) {
    const costmodel::ErrorSummary summary = costmodel::summarize(group.errors);
    text += fmt::format("{:<44} {:>7} {:>8} {:>8} {:>8}\n", name, summary.count, figure(summary.mean, 1),
                        figure(summary.median, 1), signed_figure(100 * median_signed(group.errors)));
  }
  text += "\nby harness: mean % as it is, and after one factor for the harness\n";
  for (const auto& [name, group] : group_by(rows, true)) {
    text += fmt::format("{:<96} {:>6} {:>7} {:>7}  x{}\n", name, group.errors.size(),
                        figure(costmodel::summarize(group.errors).mean, 1),
                        figure(after_scale(group).mean, 1), figure(median_signed(group.ratios), 2));
  }
  return text;
}

}  // namespace

bool is_operator_file(const std::string& file) {
  try {
    return inputs::is_operator_table(inputs::CsvFile::open(file).header());
  } catch (const std::runtime_error&) {
    return false;  // whoever reads it says what is wrong with it
  }
}

int run_validate_operators(const ValidateOptions& options) {
  const inputs::Catalog catalog = inputs::builtin_catalog();
  inputs::Measurements measurements;
  inputs::Diagnostics faults;
  const auto resolve = [&](std::string_view gpu) { return inputs::device_of_spelling(catalog, gpu); };
  for (const std::string& file : options.files)
    inputs::read_measurements(file, resolve, {}, measurements, faults);
  std::vector<Row> rows;
  for (const auto& [id, samples] : measurements.samples) {
    if (const inputs::DeviceEntry* entry = catalog.find_device(id)) {
      predict_device(catalog, entry->device, samples, measurements.not_modelled, rows);
    }
  }
  if (rows.empty()) faults.throw_if_any();
  for (const inputs::Fault& fault : faults.faults()) say("left out: " + inputs::to_string(fault));
  for (const auto& [reason, count] : measurements.not_modelled) {
    say(fmt::format("{} rows not modelled: {}", count, reason));
  }
  if (!options.rows.empty()) write_file(options.rows, rows_csv(rows));
  print(options.json ? as_json(measurements, faults.faults().size(), rows) : as_text(rows));
  return kDone;
}

}  // namespace trainfront::engine
