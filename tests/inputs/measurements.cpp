#include "inputs/measurements.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "inputs/measured_fabric.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

// Reads one text as if it were a file of that name.
struct Reading {
  Measurements measurements;
  Diagnostics faults;

  explicit Reading(const std::string& text, const MeasurementDefaults& defaults = {},
                   const std::string& name = "m.txt") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("trainfront-test-" + name);
    std::ofstream(path, std::ios::binary) << text;
    read_measurements(
        path, [](std::string_view gpu) { return gpu == "GPU" || gpu.empty() ? "gpu" : ""; }, defaults,
        measurements, faults);
    std::filesystem::remove(path);
  }
  const std::vector<costmodel::CollectiveSample>& collectives() {
    return measurements.samples["gpu"].collective;
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n";

}  // namespace

TEST_CASE("nccl-tests output is read with launchers' prefixes, and the faster of both columns counts") {
  const std::string row =
      "  1048576        262144     float     sum      -1    93.25   11.24   21.08      0    82.98   12.64   "
      "23.69      0\n";
  for (const std::string prefix : {"", "0: ", " 0: ", "[1,0]<stdout>:"}) {
    Reading reading(prefix + kHeader + prefix + row, {.fabric = "IB NDR 8x400Gb/s per node", .ranks = 16});
    REQUIRE(reading.faults.empty());
    REQUIRE(reading.collectives().size() == 1);
    const auto& sample = reading.collectives().front();
    CHECK(sample.collective == Collective::kAllReduce);  // busbw above algbw
    CHECK(sample.bytes == 1048576);
    CHECK(sample.seconds == doctest::Approx(82.98e-6));
    CHECK(sample.placement == costmodel::Placement{16, 2, 8});
    CHECK(sample.nic_bytes_per_s == 50e9);
  }
}

TEST_CASE("ranks come from the rank list, from Slurm, or from the rates") {
  const std::string row =
      " 8589934592    2147483648     float     sum      -1    33605  255.62  479.28      0    33628  255.44  "
      "478.95      0\n";
  const MeasurementDefaults defaults{.fabric = "EFA 32x100Gb/s"};
  Reading inferred(row, defaults);
  REQUIRE(inferred.collectives().size() == 1);
  CHECK(inferred.collectives().front().placement.ranks == 16);
  CHECK(!inferred.measurements.notes.empty());
  Reading slurm("SLURM_NTASKS=32\n" + row, defaults);
  CHECK(slurm.collectives().front().placement.ranks == 32);
  Reading listed(
      "#  Rank  0 Group  0 Pid 1 on host-a device  0 [0000:0f:00] GPU\n"
      "#  Rank  1 Group  0 Pid 1 on host-b device  0 [0000:0f:00] GPU\n" +
          row,
      defaults);
  CHECK(listed.collectives().front().placement == costmodel::Placement{2, 2, 1});
}

TEST_CASE("a log that breaks off in the middle of a row, or in a crash, keeps what it printed") {
  Reading reading(
      kHeader +
          "  1073741824     268435456     float     sum      -1    19355   55.48  110.84      0    19189   "
          "55.96  111.80      0\n"
          "  2147483648     536870912     float     sum      -1    20218  106.22  212.23      0    19883\n"
          "HCA-128: Test NCCL failure common.cu:1204 'unhandled cuda error'\n",
      {.fabric = "IB NDR 8x400Gb/s per node", .ranks = 1024, .nodes = 128});
  REQUIRE(reading.collectives().size() == 2);
  CHECK(reading.collectives()[1].seconds == doctest::Approx(20218e-6));
  CHECK(reading.collectives()[1].placement == costmodel::Placement{1024, 128, 8});
  REQUIRE(reading.measurements.notes.size() == 1);
  CHECK(has(reading.measurements.notes[0], "failed"));
}

TEST_CASE("all-gather prints no reduction, so that its name must come from somewhere") {
  const std::string row =
      " 8388608        131072     float    none      -1    309.5   27.11   25.41    N/A    306.9   27.33   "
      "25.63    N/A\n";
  Reading nameless(row, {.fabric = "8x200Gb/s", .ranks = 16});
  REQUIRE(nameless.faults.faults().size() == 1);
  CHECK(has(to_string(nameless.faults.faults()[0]), "which collective"));
  Reading named("# Collective test starting: all_gather_perf\n" + row, {.fabric = "8x200Gb/s", .ranks = 16});
  REQUIRE(named.collectives().size() == 1);
  CHECK(named.collectives()[0].collective == Collective::kAllGather);
  CHECK(named.collectives()[0].seconds == doctest::Approx(306.9e-6));
}

TEST_CASE("a table's bad lines are reported with file and line, and the good ones kept") {
  Reading reading(
      "source,gpu,precision,m,n,k,time_us,tflops\n"
      "a,GPU,bfloat16,128,256,512,10.5,1\n"
      "a,GPU,bfloat16,128,256,512,-3,1\n"
      "a,GPU,bfloat16,128,oops,512,10.5,1\n"
      "a,GPU,nvfp4,128,256,512,10.5,1\n"
      "a,Toaster,bfloat16,128,256,512,10.5,1\n"
      "a,GPU,fp8,1,2\n");
  CHECK(reading.measurements.samples["gpu"].gemm.size() == 1);
  const std::vector<Fault> faults = reading.faults.faults();
  REQUIRE(faults.size() == 3);
  CHECK(faults[0].at.line == 3);
  CHECK(faults[0].key == "time_us");
  CHECK(faults[1].at.line == 4);
  CHECK(faults[2].at.line == 7);
  CHECK(reading.measurements.not_modelled["gemm in nvfp4"] == 1);
  CHECK(reading.measurements.not_modelled["gpu Toaster is not in the catalogue"] == 1);
}

TEST_CASE("an empty file and a table of something else are faults") {
  CHECK(has(to_string(Reading("").faults.faults().at(0)), "empty"));
  CHECK(has(to_string(Reading("a,b\n1,2\n").faults.faults().at(0)), "neither"));
  CHECK(!Reading("{\"traceEvents\": 3}").faults.empty());
}

TEST_CASE("a trace's collectives take the least time of all their calls") {
  const auto event = [](double dur, int elements) {
    return R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","dur":)" + std::to_string(dur) +
           R"(,"args":{"Collective name":"allreduce","In msg nelems":)" + std::to_string(elements) +
           R"(,"Out msg nelems":1,"Group size":4,"dtype":"BFloat16"}})";
  };
  Reading reading(R"({"deviceProperties":[{"name":"GPU"}],"traceEvents":[)" + event(900, 1000) + "," +
                  event(120, 1000) + "," + event(300, 5000) + R"(,{"ph":"X","name":"gemm","dur":5}]})");
  REQUIRE(reading.faults.empty());
  REQUIRE(reading.collectives().size() == 2);
  CHECK(reading.collectives()[0].bytes == 2000);
  CHECK(reading.collectives()[0].seconds == doctest::Approx(120e-6));
  CHECK(reading.collectives()[0].placement == costmodel::Placement{4, 1, 4});
}

TEST_CASE("the words of a fabric give the rate of a GPU's card and the domains") {
  CHECK(read_fabric("NVLink4 + EFA 32x100Gb/s (3200Gb/s per node)", 16, 2).nic_bytes_per_s == 50e9);
  CHECK(read_fabric("NVLink5/NVL72 x2 racks + RoCE 4x400Gb/s per 4-GPU node", 128, 32).placement ==
        costmodel::Placement{128, 2, 64});
  CHECK(read_fabric("NVLink5/NVL72 x2 racks + RoCE 4x400Gb/s per 4-GPU node", 128, 32).nic_bytes_per_s ==
        50e9);
  CHECK(read_fabric("NVLink5/NVL72 900GB/s-unidir", 64, 16).placement == costmodel::Placement{64, 1, 64});
  CHECK(read_fabric("pairwise NVLink (4-GPU node)", 2, 1).pairwise);
}

TEST_CASE("every published log and trace at hand is read") {
  const std::filesystem::path raw = std::filesystem::path(TRAINFRONT_DATA_DIR) / "ops" / "raw";
  if (!std::filesystem::exists(raw)) {
    MESSAGE("skipped: no data folder beside the source");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(raw)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".log" && !name.starts_with("profiler_")) continue;
    Measurements measurements;
    Diagnostics faults;
    read_measurements(
        entry.path(), [](std::string_view) { return "gpu"; }, {}, measurements, faults);
    for (const Fault& fault : faults.faults()) FAIL_CHECK(to_string(fault));
    CAPTURE(name);
    if (name.find("alexnet") == std::string::npos && name.find("gb300_128") == std::string::npos) {
      CHECK(!measurements.samples["gpu"].collective.empty());
    }
  }
}

}  // namespace trainfront::inputs
