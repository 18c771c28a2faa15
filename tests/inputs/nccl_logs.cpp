#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <string>

#include "inputs/measurements.hpp"
#include "tests/inputs/read_text.hpp"
#include "tests/near.hpp"

// Logs of nccl-tests as users have them: of programs that are not modelled, with columns that were not run,
// with wrong results, joined, and crashed.

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

const costmodel::Device kDevice{.id = "gpu", .profile = {}};

struct Reading : TextReading {
  explicit Reading(const std::string& bytes, const std::string& meta = "") {
    read(
        bytes, [](std::string_view) { return &kDevice; }, {}, meta, "nccl-log");
  }
  std::size_t samples_of(Collective collective) const {
    const auto found = measurements.samples.find("gpu");
    std::size_t count = 0;
    if (found == measurements.samples.end()) return 0;
    for (const costmodel::CollectiveSample& sample : found->second.collective)
      count += sample.collective == collective ? 1u : 0u;
    return count;
  }
};

// Two ranks, whose busbw is algbw of an all_reduce, and half of a gathering.
std::string run(const std::string& program, const std::string& rows, bool says_ranks = true) {
  std::string text =
      "# Collective test starting: " + program + "_perf\n# nThread 1 nGpus 2 minBytes 1048576\n";
  for (int rank = 0; says_ranks && rank < 2; ++rank)
    text +=
        fmt::format("#  Rank {:2} Group  0 Pid 7 on host device {} [0000:0{}:00] GPU\n", rank, rank, rank);
  return text + rows + "# Collective test concluded: " + program + "_perf\n";
}

// A mebibyte in 100 us, twice that in 200.
std::string columns(int mebibytes, double passes, const std::string& wrong = "0") {
  return fmt::format(" {:.1f} 10.49 {:.2f} {}", 100.0 * mebibytes, 10.49 * passes, wrong);
}
std::string row(int mebibytes, const std::string& out_of_place, const std::string& in_place) {
  return fmt::format("{} {} float sum -1{}{}\n", mebibytes << 20, mebibytes << 18, out_of_place, in_place);
}
std::string rows(double passes) {
  std::string text;
  for (const int mebibytes : {1, 2, 4})
    text += row(mebibytes, columns(mebibytes, passes), columns(mebibytes, passes));
  return text;
}

std::string packed(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 200, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("programs that are not modelled are counted by name, and never taken for another") {
  for (const char* program : {"broadcast", "reduce", "gather", "scatter", "hypercube", "alltoallv"}) {
    CAPTURE(program);
    // Two runs in one file; a gather's rates are those of an all_gather.
    for (const bool says_ranks : {true, false}) {
      const Reading log(run("all_gather", rows(0.5)) + run(program, rows(0.5), says_ranks));
      CHECK(log.samples_of(Collective::kAllGather) == 3);
      CHECK(log.measurements.rows == 6);
      CHECK(log.measurements.not_modelled.at("collective " + std::string(program)) == 3);
      CHECK(log.faults.empty());
    }
  }
  const Reading log(run("gather", rows(0.5)) + run("reduce_scatter", rows(0.5)) + run("all_reduce", rows(1)));
  CHECK(log.samples_of(Collective::kReduceScatter) == 3);
  CHECK(log.samples_of(Collective::kAllReduce) == 3);
}

TEST_CASE("columns of what was not run leave the other ones") {
  const std::string none = " N/A N/A N/A N/A";
  for (const std::string& one : {row(1, none, columns(1, 1)), row(1, columns(1, 1, "N/A"), none)}) {
    const Reading log(run("all_reduce", one));
    CHECK(log.samples_of(Collective::kAllReduce) == 1);
    CHECK(log.measurements.samples.at("gpu").collective[0].seconds == near(1e-4));
    CHECK(log.faults.empty());
  }
  CHECK(Reading(run("all_reduce", rows(1) + row(8, none, none))).faults.faults().size() == 1);
}

TEST_CASE("rows whose results were wrong are reported and left out") {
  const Reading log(run("all_reduce", rows(1) + row(8, columns(8, 1), columns(8, 1, "7"))));
  CHECK(log.samples_of(Collective::kAllReduce) == 3);
  REQUIRE(log.faults.faults().size() == 1);
  CHECK(log.faults.faults()[0].problem == "the test found wrong results");
  CHECK(log.faults.faults()[0].found == "7");
  // Old versions print the greatest error.
  CHECK(Reading(run("all_reduce", row(1, columns(1, 1, "2e-06"), columns(1, 1, "2e-06")))).faults.empty());
}

TEST_CASE("a crash is noted once, whoever of the processes tells of it") {
  const std::string failure =
      "host: Test CUDA failure common.cu:1 'x'\n .. host pid 1: Test failure common.cu:2\n";
  const Reading log(run("all_reduce", rows(1) + failure + failure));
  CHECK(log.samples_of(Collective::kAllReduce) == 3);
  CHECK(log.measurements.notes.size() == 1);
}

TEST_CASE("settings that take choices from NCCL are said") {
  const Reading log("+ mpirun -x NCCL_ALGO=Ring -x NCCL_DEBUG=INFO -x NCCL_ALGORITHM=x all_reduce_perf\n" +
                    run("all_reduce", rows(1)) +
                    "h:1 [0] NCCL INFO NCCL_PROTO set by environment to LL,Simple\n");
  REQUIRE(log.measurements.notes.size() == 1);
  CHECK(log.measurements.notes[0].find("run with NCCL_ALGO=Ring, NCCL_PROTO=LL,Simple;") !=
        std::string::npos);
  CHECK(Reading(run("all_reduce", rows(1))).measurements.notes.empty());
  const Reading behind("NCCL_ALGORITHM=x NCCL_ALGO=Ring NCCL_NET_PLUGIN=y NCCL_NET=IB\n" +
                       run("all_reduce", rows(1)));
  REQUIRE(behind.measurements.notes.size() == 1);
  CHECK(behind.measurements.notes[0].find("run with NCCL_ALGO=Ring, NCCL_NET=IB;") != std::string::npos);
}

TEST_CASE("logs with a time of day before each line, and packed ones that were joined, are read whole") {
  for (const std::string time :
       {"2026-11-30T12:00:01.5Z ", "2026-11-30T12:00:01.5Z\t", "2026-11-30T12:00:01.5Z stdout F "}) {
    CAPTURE(time);
    std::string timed;
    for (const char letter : run("all_reduce", rows(1))) {
      if (timed.empty() || timed.back() == '\n') timed += time;
      timed += letter;
    }
    CHECK(Reading(timed).samples_of(Collective::kAllReduce) == 3);
  }
  const Reading joined(packed(run("all_reduce", rows(1))) + packed(run("all_gather", rows(0.5))));
  CHECK(joined.samples_of(Collective::kAllReduce) == 3);
  CHECK(joined.samples_of(Collective::kAllGather) == 3);
}

TEST_CASE("a line of FILE.meta without a value, and an operation that is none, are faults") {
  const Reading log(rows(0.5), "op\nn=2\nop=broadcast\n");
  REQUIRE(log.faults.faults().size() == 3);
  CHECK(log.faults.faults()[0].at.line == 1);
  CHECK(log.faults.faults()[0].problem == "not a line of key=value");
  CHECK(log.faults.faults()[0].found == "op");
  CHECK(log.faults.faults()[1].found == "broadcast");
  CHECK(log.faults.faults()[1].allowed.find("all_gather") != std::string::npos);
  CHECK(log.faults.faults()[2].problem == "does not say which collective it measured");
}

TEST_CASE("what FILE.meta says twice, or against the log, is a fault") {
  const std::string log = run("all_reduce", rows(1));
  const Reading twice(log, "n=2\nn=4\n");
  REQUIRE(twice.faults.faults().size() == 1);
  CHECK(twice.faults.faults()[0].at.line == 2);
  CHECK(twice.samples_of(Collective::kAllReduce) == 3);
  const Reading other(log, "op=all_gather\n");
  REQUIRE(other.faults.faults().size() == 1);
  CHECK(other.faults.faults()[0].found == "all_reduce");
  CHECK(other.faults.faults()[0].allowed == "all_gather");
  CHECK(other.measurements.samples.empty());
  const Reading more(log, "n=4\n");
  REQUIRE(more.faults.faults().size() == 1);
  CHECK(more.faults.faults()[0].found == "2");
  CHECK(more.measurements.samples.empty());
}

TEST_CASE("who measured a log goes with its name, which stays one source") {
  const Reading log(run("all_reduce", rows(1)), "source=our cluster; rack 7\n");
  REQUIRE(log.measurements.samples.at("gpu").sources.size() == 1);
  CHECK(log.measurements.samples.at("gpu").sources[0] ==
        "nccl-tests trainfront-test-nccl-log (our cluster, rack 7)");
}

TEST_CASE("a run's own list of ranks counts more than the tasks of the job that it was part of") {
  const Reading log("SLURM_NTASKS=64\n" + run("all_reduce", rows(1)));
  CHECK(log.samples_of(Collective::kAllReduce) == 3);
  CHECK(log.measurements.samples.at("gpu").collective[0].placement.ranks == 2);
  REQUIRE(log.measurements.notes.size() == 1);
  CHECK(log.measurements.notes[0].find("2 ranks, as it lists them, of the 64 tasks") != std::string::npos);
}

TEST_CASE("numbers of ranks that nothing has are none") {
  for (const char* odd : {"1e30", "-5", "nan", "2147483647", "0.5"}) {
    CAPTURE(odd);
    const std::string line =
        fmt::format("#  Rank {} Group  0 Pid 7 on host device 0 [0000:00:00] GPU\n", odd);
    const Reading log(line + "SLURM_NTASKS=99999999999999\n" + run("all_reduce", rows(1)));
    CHECK(log.samples_of(Collective::kAllReduce) == 3);
    CHECK(log.measurements.samples.at("gpu").collective[0].placement.ranks == 2);
  }
}

TEST_CASE("an error that is no number is a wrong result, and a file full of them is refused for that") {
  for (const char* wrong : {"nan", "inf", "-1", "bad"}) {
    CAPTURE(wrong);
    const Reading log(run("all_reduce", rows(1) + row(8, columns(8, 1), columns(8, 1, wrong))));
    CHECK(log.samples_of(Collective::kAllReduce) == 3);
    REQUIRE(log.faults.faults().size() == 1);
    CHECK(log.faults.faults()[0].problem == "the test found wrong results");
    CHECK(log.faults.faults()[0].found == wrong);
  }
  std::string all_wrong;
  for (const int mebibytes : {1, 2, 4}) all_wrong += row(mebibytes, columns(mebibytes, 1, "9"), "");
  const Reading log(run("all_reduce", all_wrong));
  REQUIRE(log.measurements.refused.size() == 1);
  const std::string told = to_string(log.measurements.refused[0]);
  CHECK(told.find("the test found wrong results: 3") != std::string::npos);
  CHECK(told.find("microseconds") == std::string::npos);
}

}  // namespace trainfront::inputs
