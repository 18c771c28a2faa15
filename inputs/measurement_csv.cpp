#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/data_sheet_limits.hpp"
#include "costmodel/link_passes.hpp"
#include "inputs/csv_records.hpp"
#include "inputs/measurement_record.hpp"
#include "inputs/measurement_text.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;
using costmodel::Device;
using costmodel::MemoryBound;
using costmodel::Precision;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// vidur names a source after each model and layer that it profiled: all are one harness.
std::string harness(const std::string& source) {
  return source.starts_with("vidur:") ? "vidur" : source;
}

std::optional<Precision> precision_of(std::string_view text) {
  if (text == "bfloat16" || text == "bf16" || text == "float16" || text == "fp16" || text == "half") {
    return Precision::kBf16;
  }
  if (text == "fp8") return Precision::kFp8;
  return std::nullopt;
}

void add_gemm(MeasurementRecord& record, const MeasuredDevice& measured, Measurements& measurements) {
  const Device& device = *measured.device;
  const std::string name = record.text("precision");
  costmodel::GemmSample sample{.m = record.number("m"),
                               .n = record.number("n"),
                               .k = record.number("k"),
                               .seconds = record.number("time_us") * 1e-6};
  record.must_agree("tflops", 2 * sample.m * sample.n * sample.k / sample.seconds * 1e-12);
  if (!record.is_good()) return;
  const std::optional<Precision> precision = precision_of(name);
  if (!precision) return static_cast<void>(++measurements.not_modelled["gemm in " + name]);
  sample.precision = *precision;
  record.must_take(costmodel::least_seconds(device, sample), sample.seconds);
  if (!record.is_good()) return;
  costmodel::Samples& samples = measurements.samples[device.id];
  sample.source = source_index(samples, harness(record.text("source")));
  samples.gemm.push_back(sample);
}

void add_attention(MeasurementRecord& record, const MeasuredDevice& measured, Measurements& measurements) {
  const Device& device = *measured.device;
  costmodel::AttentionSample sample;
  sample.shape = {.batch = record.number("batch"),
                  .queries = record.number("seq_q"),
                  .keys = record.number("seq_kv"),
                  .heads = record.number("heads"),
                  .kv_heads = record.number("kv_heads"),
                  .qk_dim = record.number("head_dim"),
                  .value_dim = record.number("head_dim"),
                  .causal = record.text("causal") == "1",
                  .window = 0};
  sample.seconds = record.number("time_us") * 1e-6;
  if (!record.is_good()) return;
  const std::string precision = record.text("precision"), source = record.text("source");
  const bool plain = precision_of(precision).value_or(Precision::kFp8) == Precision::kBf16;
  if (!plain && precision != "bfloat16/kv-bfloat16") {
    return static_cast<void>(++measurements.not_modelled["attention in " + precision]);
  }
  if (sample.shape.queries < 2)
    return static_cast<void>(++measurements.not_modelled["attention of one query (decoding)"]);
  sample.backward = record.text("direction") == "bwd";
  // Serving engines time attention together with adding to their cache.
  for (const char* engine : {"vllm", "sglang", "trtllm"}) sample.writes_cache |= contains(source, engine);
  record.must_take(costmodel::least_seconds(device, sample), sample.seconds);
  if (!record.is_good()) return;
  costmodel::Samples& samples = measurements.samples[device.id];
  sample.source = source_index(samples, source);
  samples.attention.push_back(sample);
}

struct OtherName {
  std::string_view op;
  MemoryBound kind;
};
// vidur's, beside the profile's own.
constexpr std::array<OtherName, 5> kOtherNames{{{"input_layernorm", MemoryBound::kNorm},
                                                {"post_attention_layernorm", MemoryBound::kNorm},
                                                {"mlp_act", MemoryBound::kActivation},
                                                {"attn_rope", MemoryBound::kRotary},
                                                {"emb", MemoryBound::kEmbedding}}};

std::optional<MemoryBound> memory_bound_of(std::string_view op) {
  const auto* own = std::find(kMemoryBoundNames.begin(), kMemoryBoundNames.end(), op);
  if (own != kMemoryBoundNames.end()) return static_cast<MemoryBound>(own - kMemoryBoundNames.begin());
  const auto* other = std::find_if(kOtherNames.begin(), kOtherNames.end(),
                                   [&](const OtherName& name) { return name.op == op; });
  if (other == kOtherNames.end()) return std::nullopt;
  return other->kind;
}

void add_elementwise(MeasurementRecord& record, const MeasuredDevice& measured, Measurements& measurements) {
  const Device& device = *measured.device;
  const std::string op = record.text("op");
  const std::optional<MemoryBound> kind = memory_bound_of(op);
  if (!kind) return static_cast<void>(++measurements.not_modelled["elementwise " + op]);
  costmodel::MemoryBoundSample sample{
      .kind = *kind, .bytes = record.number("bytes_or_elems"), .seconds = record.number("time_us") * 1e-6};
  record.must_take(costmodel::least_seconds(device, sample), sample.seconds);
  if (!record.is_good()) return;
  costmodel::Samples& samples = measurements.samples[device.id];
  sample.source = source_index(samples, harness(record.text("source")));
  samples.memory_bound.push_back(sample);
}

void add_collective_record(MeasurementRecord& record, const MeasuredDevice& measured,
                           Measurements& measurements) {
  const std::string op = record.text("op"), source = record.text("source");
  costmodel::CollectiveSample sample;
  sample.placement.ranks = static_cast<int>(record.number("n_gpus"));
  const int nodes = static_cast<int>(record.number("n_nodes"));
  sample.bytes = record.number("bytes");
  sample.seconds = record.number("time_us") * 1e-6;
  if (!record.is_good()) return;
  const auto* known = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), op);
  if (known == kCollectiveNames.end())
    return static_cast<void>(++measurements.not_modelled["collective " + op]);
  if (contains(source, "custom_ar"))
    return static_cast<void>(++measurements.not_modelled["all_reduce kernels other than NCCL's"]);
  // Sums of integers take other ways: NVLink SHARP adds floating-point numbers only, and rings add int8 8 to
  // 15 % slower than bf16. Training sums floating-point numbers.
  const bool reduces = op == "all_reduce" || op == "reduce_scatter";
  if (reduces && record.text("dtype") == "int8")
    return static_cast<void>(++measurements.not_modelled[op + " of int8"]);
  sample.collective = static_cast<Collective>(known - kCollectiveNames.begin());
  record.must_agree("busbw_GBps", sample.bytes *
                                      costmodel::link_passes(sample.collective, sample.placement.ranks) /
                                      sample.seconds * 1e-9);
  if (!record.is_good()) return;
  add_collective(sample, record.text("fabric"), nodes, source, measured, record.at("time_us"), measurements,
                 record.contradicted());
}

void add_mamf(MeasurementRecord& record, const MeasuredDevice& measured, Measurements& measurements) {
  const Device& device = *measured.device;
  SustainedRate rate{.m = record.number("best_m"),
                     .n = record.number("best_n"),
                     .k = record.number("best_k"),
                     .flops_per_s = record.number("mamf_tflops") * 1e12};
  const std::optional<Precision> precision = precision_of(record.text("precision"));
  if (!record.is_good() || !precision) return;
  rate.precision = *precision;
  const double peak = costmodel::dense_peak_flops_per_s(device, *precision);
  // The best sustained products of public tables reach 0.51 to 0.97 of it.
  constexpr double kLeastOfPeak = 0.1;
  if (peak > 0 &&
      (rate.flops_per_s > costmodel::kAboveDataSheet * peak || rate.flops_per_s < kLeastOfPeak * peak)) {
    Fault fault = record.at("mamf_tflops");
    fault.problem = "is not what the best matrix product of this device can reach";
    fault.found = record.text("mamf_tflops");
    fault.allowed = fmt::format("{:.4g} to {:.4g} TFLOP/s", kLeastOfPeak * peak * 1e-12, peak * 1e-12);
    return record.contradict(std::move(fault));
  }
  measurements.sustained[device.id].push_back(rate);
}

struct Table {
  std::array<std::string_view, 4> columns;  // that only it has
  std::string_view gpu_column;
  void (*add)(MeasurementRecord&, const MeasuredDevice&, Measurements&);
};
constexpr std::array<Table, 5> kTables{
    {{{"m", "n", "k", "time_us"}, "gpu", add_gemm},
     {{"seq_q", "seq_kv", "head_dim", "time_us"}, "gpu", add_attention},
     {{"op", "bytes_or_elems", "precision", "time_us"}, "gpu", add_elementwise},
     {{"op", "n_gpus", "bytes", "time_us"}, "gpu", add_collective_record},
     {{"mamf_tflops", "best_m", "best_n", "best_k"}, "accelerator", add_mamf}}};

const Table* table_of(const std::vector<std::string>& header) {
  for (const Table& table : kTables) {
    if (std::all_of(table.columns.begin(), table.columns.end(), [&](std::string_view column) {
          return std::find(header.begin(), header.end(), column) != header.end();
        })) {
      return &table;
    }
  }
  return nullptr;
}

}  // namespace

bool is_operator_table(const std::vector<std::string>& header) {
  return table_of(header) != nullptr;
}

void read_measurement_csv(const std::string& file, std::string text, const DeviceResolver& resolve,
                          Measurements& measurements, Diagnostics& faults) {
  try {
    CsvFile csv(file, std::move(text));
    const Table* table = table_of(csv.header());
    if (table == nullptr || !csv.find_column(table->gpu_column)) {
      return faults.add(
          {file,
           {1, 1},
           "",
           "neither an operator table, nor nccl-tests output, nor a profiler trace",
           "",
           "columns gpu, precision, m, n, k, time_us (gemm); op, n_gpus, bytes, time_us (collectives); "
           "seq_q, seq_kv, head_dim, time_us (attention); op, bytes_or_elems, time_us (elementwise)",
           ""});
    }
    const std::size_t gpu_column = csv.column(table->gpu_column);
    ContradictedRows contradicted(file, faults);
    std::size_t rows = 0;  // of devices that are known
    while (true) {
      try {
        if (!csv.next()) break;
      } catch (const CsvError& error) {
        ++measurements.rows;
        faults.add(to_fault(error));
        continue;
      }
      ++measurements.rows;
      const std::string gpu(csv[gpu_column]);
      const MeasuredDevice measured = resolve(gpu);
      if (measured.device == nullptr) {
        ++measurements.not_modelled["gpu " + gpu + " is not in the catalogue"];
        continue;
      }
      ++rows;
      MeasurementRecord record(csv, faults, contradicted);
      table->add(record, measured, measurements);
    }
    contradicted.finish(rows, measurements);
  } catch (const CsvError& error) {
    faults.add(to_fault(error));
  }
}

}  // namespace trainfront::inputs
