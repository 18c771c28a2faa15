#include "inputs/measurements.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "inputs/csv.hpp"
#include "inputs/measured_fabric.hpp"
#include "tests/inputs/read_text.hpp"
#include "tests/near.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

// Its data sheet states nothing, and so bounds nothing.
const costmodel::Device kDevice{.id = "gpu", .profile = {}};

struct Reading : TextReading {
  explicit Reading(const std::string& text, const MeasurementDefaults& defaults = {},
                   const std::string& name = "m.txt") {
    read(
        text, [](std::string_view gpu) { return gpu == "GPU" || gpu.empty() ? &kDevice : nullptr; }, defaults,
        "", name);
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string gzip(const std::string& text) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "trainfront-test-packed.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(file);
  std::ifstream stream(path, std::ios::binary);
  std::string packed{std::istreambuf_iterator<char>(stream), {}};
  std::filesystem::remove(path);
  return packed;
}

// One NCCL kernel of a trace, with the metadata that PyTorch writes.
std::string kernel(const std::string& collective, double dur, int in, int out,
                   const std::string& type = "BFloat16") {
  return R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_x","dur":)" + std::to_string(dur) +
         R"(,"args":{"Collective name":")" + collective + R"(","In msg nelems":)" + std::to_string(in) +
         R"(,"Out msg nelems":)" + std::to_string(out) +
         R"(,"Group size":4,"Process Group Ranks":"[0, 1, 2, 3]","dtype":")" + type + R"("}})";
}

std::string trace(const std::string& events) {
  return R"({"deviceProperties":[{"name":"GPU"}],"traceEvents":[)" + events + "]}";
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
    CHECK(sample.seconds == near(82.98e-6));
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
      "# all_reduce_perf\n"
      "#  Rank  0 Group  0 Pid 1 on host-a device  0 [0000:0f:00] GPU\n"
      "#  Rank  1 Group  0 Pid 1 on host-b device  0 [0000:0f:00] GPU\n"
      " 8589934592    2147483648     float     sum      -1    33605  255.62  255.62      0\n",
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
  CHECK(reading.collectives()[1].seconds == near(20218e-6));
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
  CHECK(named.collectives()[0].seconds == near(306.9e-6));
}

TEST_CASE("a table's bad lines are reported with file and line, and the good ones kept") {
  Reading reading(
      "source,gpu,precision,m,n,k,time_us,tflops\n"
      "a,GPU,bfloat16,128,256,512,10.5,3.2\n"
      "a,GPU,bfloat16,128,256,512,-3,1\n"
      "a,GPU,bfloat16,128,oops,512,10.5,1\n"
      "a,GPU,nvfp4,128,256,512,10.5,3.2\n"
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

TEST_CASE("element-wise kernels go by the profile's names, and by vidur's") {
  const std::string header = "source,gpu,op,precision,bytes_or_elems,time_us\n";
  Reading reading(header +
                  "a,GPU,norm,bf16,1000,1\na,GPU,cross_entropy,bf16,1000,1\na,GPU,mlp_act,bf16,1000,1\n"
                  "a,GPU,emb,bf16,1000,1\na,GPU,dropout,bf16,1000,1\n");
  using costmodel::MemoryBound;
  const auto& samples = reading.measurements.samples["gpu"].memory_bound;
  REQUIRE(samples.size() == 4);
  CHECK(samples[0].kind == MemoryBound::kNorm);
  CHECK(samples[1].kind == MemoryBound::kCrossEntropy);
  CHECK(samples[2].kind == MemoryBound::kActivation);
  CHECK(samples[3].kind == MemoryBound::kEmbedding);
  CHECK(reading.measurements.not_modelled["elementwise dropout"] == 1);
}

TEST_CASE("an empty file and a table of something else are faults") {
  CHECK(has(to_string(Reading("").faults.faults().at(0)), "empty"));
  CHECK(has(to_string(Reading("a,b\n1,2\n").faults.faults().at(0)), "neither"));
  CHECK(!Reading("{\"traceEvents\": 3}").faults.empty());
  CHECK(
      !Reading(
           trace(R"({"ph":"X","name":"ncclDevKernel","args":{"Collective name":"allreduce","Group size":4},)"
                 R"("dur":"long"})"))
           .faults.empty());
}

TEST_CASE("a trace's collectives take the least time of all their calls") {
  const auto event = [](double dur, int elements) {
    return R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","dur":)" + std::to_string(dur) +
           R"(,"args":{"Collective name":"allreduce","In msg nelems":)" + std::to_string(elements) +
           R"(,"Out msg nelems":1,"Group size":4,"Process Group Ranks":"[0, 1, 2, 3]","dtype":"BFloat16"}})";
  };
  Reading reading(R"({"deviceProperties":[{"name":"GPU"}],"traceEvents":[)" + event(900, 1000) + "," +
                  event(120, 1000) + "," + event(300, 5000) + R"(,{"ph":"X","name":"gemm","dur":5}]})");
  REQUIRE(reading.faults.empty());
  REQUIRE(reading.collectives().size() == 2);
  CHECK(reading.collectives()[0].bytes == 2000);
  CHECK(reading.collectives()[0].seconds == near(120e-6));
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
  CHECK(node_gpus_of_fabric("TCP 1x100Gb/s per 4-GPU node") == 4);
  CHECK(node_gpus_of_fabric("TCP 1x100Gb/s") == 8);
}

TEST_CASE("nodes of a device that comes in racks share one, unless the fabric tells of a network") {
  const costmodel::Placement rack{64, 1, 64}, nodes{64, 16, 4};
  CHECK(read_fabric("", 64, 16, 72).placement == rack);
  CHECK(read_fabric("", 64, 16, 72).taken_for_a_rack);
  CHECK(read_fabric("", 64, 16, 8).placement == nodes);
  CHECK(read_fabric("", 32, 4, 16).placement == costmodel::Placement{32, 4, 8});  // servers of 16
  CHECK(!read_fabric("", 4, 1, 72).taken_for_a_rack);
  CHECK(!read_fabric("NVLink5/NVL72", 64, 16, 72).taken_for_a_rack);
  // More than a rack holds, and nothing said of what lies between.
  CHECK(read_fabric("", 128, 32, 72).placement.domains == 32);
  CHECK(!read_fabric("", 128, 32, 72).taken_for_a_rack);
  const MeasuredFabric network = read_fabric("IB NDR 4x400Gb/s per 4-GPU node", 64, 16, 72);
  CHECK(network.placement == nodes);
  CHECK(network.taken_for_nodes);

  std::string text = "# all_reduce_perf\n";
  for (int rank = 0; rank < 64; ++rank) {
    text += "#  Rank " + std::to_string(rank) + " Group  0 Pid 1 on host" + std::to_string(rank / 4) +
            " device  0 [0x06] GPU\n";
  }
  text += kHeader + "  8388608  2097152  float  sum  -1  100.0  83.89  165.2  0\n" +
          " 16777216  4194304  float  sum  -1  120.0  139.8  275.2  0\n";
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "trainfront-test-rack.log";
  std::ofstream(path) << text;
  Measurements measurements;
  Diagnostics faults;
  read_measurements(
      path, [](std::string_view) { return MeasuredDevice(&kDevice, 72); }, {}, measurements, faults);
  std::filesystem::remove(path);
  CHECK(faults.empty());
  REQUIRE(measurements.samples["gpu"].collective.size() == 2);
  CHECK(measurements.samples["gpu"].collective[0].placement == rack);
  REQUIRE(measurements.notes.size() == 1);
  CHECK(has(measurements.notes[0], "64 ranks on 16 nodes of gpu are taken for one scale-up domain"));
}

TEST_CASE("every published log and trace at hand is read") {
  const std::filesystem::path raw = std::filesystem::path(TRAINFRONT_DATA_DIR) / "ops" / "raw";
  if (!std::filesystem::exists(raw)) {
    MESSAGE("skipped: no data folder beside the source");
    return;
  }
  std::size_t logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(raw)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".log" && !name.starts_with("profiler_")) continue;
    Measurements measurements;
    Diagnostics faults;
    read_measurements(
        entry.path(), [](std::string_view) { return &kDevice; }, {}, measurements, faults);
    for (const Fault& fault : faults.faults()) FAIL_CHECK(to_string(fault));
    CAPTURE(name);
    ++logs;
    if (name.find("alexnet") == std::string::npos && name.find("gb300_128") == std::string::npos) {
      CHECK(!measurements.samples["gpu"].collective.empty());
    }
  }
  CHECK(logs >= 17);
}

// The table holds the out-of-place times of the same logs, as transcribed; of both columns the faster counts.
TEST_CASE("published logs hold the sizes that were transcribed from them, and no longer times") {
  const std::filesystem::path ops = std::filesystem::path(TRAINFRONT_DATA_DIR) / "ops";
  if (!std::filesystem::exists(ops)) {
    MESSAGE("skipped: no data folder beside the source");
    return;
  }
  std::map<std::string, std::map<double, double>> transcribed;  // by source, operation and ranks
  CsvFile table = CsvFile::open((ops / "collectives.csv").string());
  const auto column = [&](const char* name) { return table.column(name); };
  const std::size_t source = column("source"), op = column("op"), ranks = column("n_gpus"),
                    bytes = column("bytes"), time = column("time_us");
  while (table.next()) {
    transcribed[std::string(table[source]) + "|" + std::string(table[op]) + "|" + std::string(table[ranks])]
               [csv_number(table[bytes]).value()] = csv_number(table[time]).value();
  }
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ops / "raw")) {
    if (entry.path().extension() != ".log") continue;
    std::map<std::string, std::string> meta;
    std::ifstream sidecar(entry.path().string() + ".meta");
    for (std::string line; std::getline(sidecar, line);)
      meta[line.substr(0, line.find('='))] = line.substr(std::min(line.size(), line.find('=') + 1));
    const auto found = transcribed.find(meta["source"] + "|" + meta["op"] + "|" + meta["n"]);
    if (found == transcribed.end()) continue;
    Measurements measurements;
    Diagnostics faults;
    read_measurements(
        entry.path(), [](std::string_view) { return &kDevice; }, {}, measurements, faults);
    CAPTURE(entry.path().filename().string());
    std::set<double> sizes;
    for (const auto& sample : measurements.samples["gpu"].collective) {
      sizes.insert(sample.bytes);
      const auto at = found->second.find(sample.bytes);
      if (at == found->second.end()) continue;
      CHECK(sample.seconds * 1e6 <= at->second);
      ++compared;
    }
    if (sizes.empty()) continue;  // the fabric's rate is not stated
    for (const auto& [size, time_us] : found->second) CHECK(sizes.count(size) == 1);
  }
  CHECK(compared > 100);
}

TEST_CASE("rows of old and new nccl-tests, with and without a root, whole and cut, give the same time") {
  const std::string start = "  33554432  8388608  float  sum  ", first = "274.8  122.10  228.94";
  for (const std::string& rest : {
           std::string("-1  ") + first + "  0  300.0  111.85  209.71  0",  // since 2.11
           std::string("-1  ") + first + "  0e+00  300.0  111.85  209.71  0e+00",
           std::string("0  ") + first + "  N/A  300.0  111.85  209.71  N/A",
           std::string("-1  ") + first + "  0  300.0  111.85",  // cut off
           std::string("-1  ") + first + "  0",
           std::string("-1  ") + first,
           first + "  2e-07  300.0  111.85  209.71  2e-07",  // without a root
           first + "  2e-07  300.0  111.85  209.71",
           first + "  2e-07  300.0",
           first + "  2e-07",
           first,
       }) {
    CAPTURE(rest);
    Reading reading(start + rest + "\r\n", {.ranks = 16});
    CHECK(reading.faults.empty());
    REQUIRE(reading.measurements.rows == 1);
    Reading placed(start + rest + "\n", {.fabric = "8x400Gb/s", .ranks = 16});
    REQUIRE(placed.collectives().size() == 1);
    CHECK(placed.collectives()[0].seconds == near(274.8e-6));
  }
}

TEST_CASE("rows whose rates are not size over time, and rows cut before them, are reported and left out") {
  const std::string good = "  33554432  8388608  float  sum  -1  274.8  122.10  228.94  0\n";
  Reading reading(good + "  67108864  16777216  float  sum  -1  274.8  122.10  228.94  0\n" +
                      "  134217728  33554432  float  sum  -1  99\n  268435456  67108864  float\n",
                  {.fabric = "8x400Gb/s", .ranks = 16});
  CHECK(reading.collectives().size() == 1);
  const std::vector<Fault> faults = reading.faults.faults();
  REQUIRE(faults.size() == 3);
  for (std::size_t i = 0; i < faults.size(); ++i) CHECK(faults[i].at.line == static_cast<int>(i) + 2);
}

TEST_CASE("what FILE.meta says wrongly is a fault, whatever editor wrote it") {
  const std::filesystem::path meta = std::filesystem::temp_directory_path() / "trainfront-test-said.log.meta";
  const std::string row = "  33554432  8388608  float  sum  -1  274.8  122.10  228.94  0\n";
  std::ofstream(meta, std::ios::binary)
      << "\xEF\xBB\xBFop=all_reduce\r\nn = 16\r\n# a remark\r\nnodes=two\r\nfabrik=8x400Gb/s\r\n";
  Reading reading(row, {}, "said.log");
  const std::vector<Fault> faults = reading.faults.faults();
  REQUIRE(faults.size() == 2);
  CHECK(to_string(faults[0]).find(".meta:4:1: nodes: not a count; found two") != std::string::npos);
  CHECK(faults[1].key == "fabrik");
  CHECK(faults[1].suggestion == "fabric");

  std::ofstream(meta, std::ios::binary) << "n=16\nnodes=32\nfabric=8x400Gb/s\n";
  Reading too_many(row, {}, "said.log");
  CHECK(too_many.collectives().empty());
  REQUIRE(too_many.faults.faults().size() == 1);
  CHECK(too_many.faults.faults().front().problem == "more nodes than ranks");
  std::filesystem::remove(meta);
}

TEST_CASE("a packed trace is read like a plain one, and a broken one is a fault") {
  const std::string text = trace(kernel("allreduce", 120, 1000, 1000));
  Reading packed(gzip(text), {}, "t.json.gz");
  REQUIRE(packed.collectives().size() == 1);
  CHECK(packed.collectives()[0].seconds == near(120e-6));
  const std::string whole = gzip(text);
  Reading broken(whole.substr(0, whole.size() / 2), {}, "t.json.gz");
  REQUIRE(broken.faults.faults().size() == 1);
  CHECK(has(to_string(broken.faults.faults()[0]), "gzip"));
}

TEST_CASE("NCCL's metadata names the collective, and the larger side of gathering and scattering counts") {
  struct Case {
    std::string name;
    Collective collective;
    double elements;
  };
  for (const Case& each :
       {Case{"allreduce", Collective::kAllReduce, 1000},
        Case{"allreduce_coalesced", Collective::kAllReduce, 1000},
        Case{"_allgather_base", Collective::kAllGather, 4000},
        Case{"all_gather", Collective::kAllGather, 4000},
        Case{"allgather_into_tensor_coalesced", Collective::kAllGather, 4000},
        Case{"_reduce_scatter_base", Collective::kReduceScatter, 4000},
        Case{"reduce_scatter", Collective::kReduceScatter, 4000},
        Case{"reduce_scatter_tensor_coalesced", Collective::kReduceScatter, 4000},
        Case{"all_to_all", Collective::kAllToAll, 1000}, Case{"all_to_allv", Collective::kAllToAll, 1000},
        Case{"send", Collective::kSendRecv, 1000}}) {
    CAPTURE(each.name);
    const bool scatters = each.collective == Collective::kReduceScatter;
    Reading reading(trace(kernel(each.name, 50, scatters ? 4000 : 1000, scatters ? 1000 : 4000)));
    REQUIRE(reading.collectives().size() == 1);
    CHECK(reading.collectives()[0].collective == each.collective);
    CHECK(reading.collectives()[0].bytes == 2 * each.elements);
  }
}

TEST_CASE("an event that nobody can read costs a trace no other") {
  const std::string odd =
      R"(null, 7, {"ph":"X","name":null,"dur":3}, {"ph":1}, {"ph":"X","name":"ncclDevKernel","args":7},)"
      R"({"ph":"X","name":"ncclDevKernel_x","dur":"long","args":{"Collective name":"allreduce","Group size":4,)"
      R"("In msg nelems":8}},)";
  Reading reading(trace(odd + kernel("allreduce", 50, 1000, 1000)));
  CHECK(reading.collectives().size() == 1);
  REQUIRE(reading.faults.faults().size() == 1);
  CHECK(reading.faults.faults()[0].found == "1 of 3");
}

TEST_CASE("elements are counted in bytes of their type; what is not modelled is counted by name") {
  for (const auto& known : std::map<std::string, double>{
           {"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Double", 8}, {"Byte", 1}, {"Float8_e4m3fn", 1}}) {
    CAPTURE(known.first);
    Reading reading(trace(kernel("_allgather_base", 50, 250, 1000, known.first)));
    REQUIRE(reading.collectives().size() == 1);
    CHECK(reading.collectives()[0].bytes == known.second * 1000);
  }
  Reading sums(trace(kernel("allreduce", 50, 1000, 1000, "Long") + "," +
                     kernel("_allgather_base", 50, 250, 1000, "Complex")));
  CHECK(sums.measurements.samples.empty());
  CHECK(sums.measurements.not_modelled["sums of integers"] == 1);
  CHECK(sums.measurements.not_modelled["elements of type Complex"] == 1);
  Reading other(trace(kernel("broadcast", 50, 1000, 1000) + "," +
                      R"({"ph":"X","name":"ncclKernel_AllReduce","dur":5,"args":{}})"));
  CHECK(other.measurements.samples.empty());
  CHECK(other.measurements.not_modelled["collective broadcast"] == 1);
  CHECK(other.measurements.not_modelled.size() == 2);
}

}  // namespace trainfront::inputs
