#include "inputs/contradicted_rows.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "inputs/catalog.hpp"
#include "inputs/device_spelling.hpp"
#include "inputs/measured_fabric.hpp"
#include "tests/inputs/read_text.hpp"

namespace trainfront::inputs {
namespace {

// Round numbers: 1000 TFLOP/s, 4 TB/s, 500 GB/s a link.
const costmodel::Device kDevice{.id = "gpu",
                                .bf16_flops_per_s = 1e15,
                                .memory_bytes_per_s = 4e12,
                                .link_bytes_per_s = 500e9,
                                .profile = {}};

struct Reading : TextReading {
  costmodel::Samples samples;

  explicit Reading(const std::string& text, const MeasurementDefaults& defaults = {}) {
    read(
        text, [](std::string_view) { return &kDevice; }, defaults);
    samples = measurements.samples["gpu"];
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string repeated(const std::string& row, int times) {
  std::string rows;
  for (int i = 0; i < times; ++i) rows += row;
  return rows;
}

const std::string kGemms = "source,gpu,precision,m,n,k,time_us,tflops\n";
// 137.4 GFLOP in 200 us: 687 TFLOP/s
const std::string kGoodGemm = "a,GPU,bfloat16,4096,4096,4096,200,687.2\n";

}  // namespace

TEST_CASE("single rows that contradict themselves or the data sheet are left out, with file and line") {
  const Reading reading(kGemms + repeated(kGoodGemm, 30) +
                        "a,GPU,bfloat16,4096,4096,4096,200,687200\n"  // GFLOP/s
                        "a,GPU,bfloat16,4096,4096,4096,100,\n"        // 1374 TFLOP/s
                        "a,GPU,bfloat16,16,16,16,7,0.00\n"            // rounded away
                        "a,GPU,bfloat16,4096,4096,4096,200,7e2\n");
  CHECK(reading.samples.gemm.size() == 32);
  CHECK(reading.measurements.refused.empty());
  REQUIRE(reading.faults.faults().size() == 2);
  CHECK(reading.faults.faults()[0].at.line == 32);
  CHECK(reading.faults.faults()[0].key == "tflops");
  CHECK(has(reading.faults.faults()[0].problem, "contradicts"));
  CHECK(reading.faults.faults()[1].at.line == 33);
  CHECK(reading.faults.faults()[1].key == "time_us");
  CHECK(has(to_string(reading.faults.faults()[1]), "at least 137.4 us"));
}

TEST_CASE("a file whose times are in another unit is refused as a whole") {
  const std::string in_ms = "a,GPU,bfloat16,4096,4096,4096,0.2,\n";
  const Reading fast(kGemms + repeated(in_ms, 40) + "a,GPU,bfloat16,16,16,16,7,\n");
  REQUIRE(fast.measurements.refused.size() == 1);
  CHECK(has(to_string(fast.measurements.refused[0]), "40 of 41 rows"));
  CHECK(has(to_string(fast.measurements.refused[0]), "microseconds"));
  const Reading stated(kGemms + repeated("a,GPU,bfloat16,4096,4096,4096,200000,687.2\n", 5));
  CHECK(stated.measurements.refused.size() == 1);
  CHECK(Reading(kGemms + repeated(kGoodGemm, 5)).measurements.refused.empty());
}

TEST_CASE("attention, streams, collectives and sustained products are held against the data sheet") {
  // 4 x 1 x 32 heads x 8192^2 x 128 / 2 operations: 550 us at the peak
  const std::string attention =
      "source,gpu,precision,batch,seq_q,seq_kv,heads,kv_heads,head_dim,causal,direction,time_us\n"
      "a,GPU,bfloat16,1,8192,8192,32,32,128,1,fwd,";
  CHECK(Reading(attention + "700\n").samples.attention.size() == 1);
  CHECK(Reading(attention + "300\n").measurements.refused.size() == 1);
  const std::string stream = "source,gpu,op,precision,bytes_or_elems,time_us\na,GPU,add,bf16,4000000000,";
  CHECK(Reading(stream + "1000\n").samples.memory_bound.size() == 1);
  CHECK(Reading(stream + "1\n").measurements.refused.size() == 1);
  const std::string gather =
      "source,gpu,fabric,op,dtype,n_gpus,n_nodes,bytes,time_us,busbw_GBps\n"
      "a,GPU,NVLink,all_gather,half,8,1,1000000000,";
  CHECK(Reading(gather + "2000,437.5\n").samples.collective.size() == 1);
  CHECK(Reading(gather + "2000,\n").samples.collective.size() == 1);
  CHECK(Reading(gather + "1000,875\n").faults.faults().at(0).key == "time_us");
  CHECK(Reading(gather + "2000,500\n").faults.faults().at(0).key == "busbw_GBps");  // algbw
  const std::string sustained = "accelerator,precision,mamf_tflops,best_m,best_n,best_k\nGPU,bf16,";
  CHECK(Reading(sustained + "800,4096,4096,4096\n").measurements.sustained.at("gpu").size() == 1);
  CHECK(Reading(sustained + "0.8,4096,4096,4096\n").faults.faults().at(0).key == "mamf_tflops");
  CHECK(Reading(sustained + "8e14,4096,4096,4096\n").faults.faults().at(0).key == "mamf_tflops");
}

TEST_CASE("busbw over algbw tells that a log is of another collective, or of other ranks") {
  const std::string row = " 33554432  8388608  float  sum  -1  274.8  122.10  228.94  0\n";  // 16 ranks
  const auto read = [&](const std::string& collective, int ranks) {
    return Reading(row, {.fabric = "IB 8x400Gb/s", .collective = collective, .ranks = ranks});
  };
  CHECK(read("all_reduce", 16).samples.collective.size() == 1);
  CHECK(has(to_string(read("all_gather", 16).faults.faults().at(0)), "1.88; allowed: 0.938 for all_gather"));
  CHECK(!read("all_reduce", 4).faults.empty());
  // 122 GB/s leave a node, which one card of 400 Gb/s cannot do.
  CHECK(!Reading(row, {.fabric = "IB 1x400Gb/s", .collective = "all_reduce", .ranks = 16}).faults.empty());
}

TEST_CASE("a log of several runs is read run by run") {
  const std::string reduce = " 33554432  8388608  float  sum  -1  274.8  122.10  213.68  0\n";  // 8 ranks
  const std::string gather = " 33554432  8388608  float  none  -1  274.8  122.10  106.84  0\n";
  const auto ranks = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i)
      list += "#  Rank  " + std::to_string(i) + " Pid 1 on host device  0 [0000:0f:00] GPU\n";
    return list;
  };
  const Reading reading("# Collective test starting: all_reduce_perf\n" + ranks(8) + reduce +
                        "# Collective test concluded: all_reduce_perf\n" +
                        "# Collective test starting: all_gather_perf\n" + ranks(8) + gather +
                        "# Collective test starting: sendrecv_perf\n" + ranks(2) +
                        " 33554432  8388608  float  none  -1  274.8  122.10  122.10  0\n");
  REQUIRE(reading.faults.empty());
  REQUIRE(reading.samples.collective.size() == 3);
  CHECK(reading.samples.collective[0].collective == costmodel::Collective::kAllReduce);
  CHECK(reading.samples.collective[1].collective == costmodel::Collective::kAllGather);
  CHECK(reading.samples.collective[1].placement.ranks == 8);
  CHECK(reading.samples.collective[2].placement.ranks == 2);
}

TEST_CASE("rows of an unknown type and a table in a log do not vanish silently") {
  const std::string row = " 33554432  8388608  float  sum  -1  274.8  122.10  228.94  0\n";
  const MeasurementDefaults said{.fabric = "IB 8x400Gb/s", .collective = "all_reduce", .ranks = 16};
  const Reading typo(row + " 33554432  8388608  flaot  sum  -1  274.8  122.10  228.94  0\n", said);
  CHECK(typo.samples.collective.size() == 1);
  REQUIRE(typo.faults.faults().size() == 1);
  CHECK(typo.faults.faults()[0].at.line == 2);
  CHECK(has(typo.faults.faults()[0].problem, "type"));
  for (const std::string& mixed : {kGemms + kGoodGemm + row, row + kGemms + kGoodGemm}) {
    const Reading reading(mixed, said);
    CHECK(reading.samples.collective.size() == 1);
    REQUIRE(reading.faults.faults().size() == 1);
    CHECK(reading.faults.faults()[0].at.line == (mixed.starts_with("source") ? 1 : 2));
    CHECK(has(reading.faults.faults()[0].problem, "table"));
  }
}

TEST_CASE("no row of the published tables and logs contradicts itself or a data sheet") {
  const std::filesystem::path ops = std::filesystem::path(TRAINFRONT_DATA_DIR) / "ops";
  if (!std::filesystem::exists(ops / "raw")) {
    MESSAGE("skipped: no data folder beside the source");
    return;
  }
  const Catalog catalog = builtin_catalog();
  Measurements measurements;
  Diagnostics faults;
  for (const char* table : {"gemm.csv", "attention.csv", "elementwise.csv", "collectives.csv", "mamf.csv"}) {
    read_measurements(ops / table, device_resolver(catalog), {}, measurements, faults);
  }
  for (const auto& log : std::filesystem::directory_iterator(ops / "raw")) {
    if (log.path().extension() == ".log")
      read_measurements(log.path(), device_resolver(catalog), {}, measurements, faults);
  }
  CHECK(measurements.rows > 80'000);
  CHECK(measurements.refused.empty());
  for (const Fault& fault : faults.faults()) {
    CAPTURE(to_string(fault));
    CHECK(!has(fault.problem, "contradicts"));
    CHECK(!has(fault.problem, "faster"));
    CHECK(!has(fault.problem, "busbw"));
  }
}

TEST_CASE("a fabric's words name the catalogue's kind of network") {
  const Catalog catalog = builtin_catalog();
  for (const NetworkEntry& entry : catalog.networks) {
    CAPTURE(entry.network.kind);
    CHECK(network_kind_of_fabric(entry.network.kind + " 8x400Gb/s per node") == entry.network.kind);
  }
  CHECK(network_kind_of_fabric("NVLink4 + IB NDR 8x400Gb/s per node") == "infiniband");
  CHECK(network_kind_of_fabric("NVLink3 + EFA 4x100Gb/s per node") == "efa-v1");
  CHECK(network_kind_of_fabric("NVLink4 + EFA 32x100Gb/s (3200Gb/s per node)") == "efa-v2");
  CHECK(network_kind_of_fabric("NVLink4 + RoCE CX-7 8x400Gb/s per node (GCP a3-ultra/GPUDirect-RDMA)") ==
        "gpudirect-rdma");
  CHECK(network_kind_of_fabric("NVLink5/NVL72 x2 racks + RoCE 4x400Gb/s") == "nvl72-scale-out");
  CHECK(network_kind_of_fabric("8x400Gb/s").empty());
  CHECK(network_kind_of_fabric("fibre 8x400Gb/s").empty());
  CHECK(network_kind_of_fabric("EFA").empty());  // of which generation?
}

}  // namespace trainfront::inputs
