#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "inputs/measurements.hpp"
#include "inputs/traced_group.hpp"
#include "tests/inputs/read_text.hpp"

// Traces of jobs whose groups of ranks lie within nodes and across them.

namespace trainfront::inputs {
namespace {

const costmodel::Device kDevice{.id = "gpu", .profile = {}};

// A quarter of a million elements of bf16, which take `us`.
std::string kernel(double us, int size, const std::string& ranks, const std::string& type = "BFloat16") {
  return fmt::format(R"({{"ph":"X","name":"ncclDevKernel","dur":{},"args":{{"Collective name":"allreduce",)"
                     R"("In msg nelems":262144,"Group size":{}{}{}}}}})",
                     us, size, ranks.empty() ? "" : R"(,"Process Group Ranks":")" + ranks + '"',
                     type.empty() ? "" : R"(,"dtype":")" + type + '"');
}

struct Reading : TextReading {
  explicit Reading(const std::string& events, int world = 0, MeasurementDefaults said = {},
                   int domain_gpus = 8) {
    const std::string job = world > 0 ? fmt::format(R"("distributedInfo":{{"world_size":{}}},)", world) : "";
    read(
        "{" + job + R"("traceEvents":[)" + events + "]}",
        [=](std::string_view) { return MeasuredDevice(&kDevice, domain_gpus); }, said);
  }
  std::size_t left_out(std::string_view reason) const {
    std::size_t rows = 0;
    for (const auto& [why, count] : measurements.not_modelled)
      if (why.find(reason) != std::string::npos) rows += count;
    return rows;
  }
};

const std::string kFabric = "IB NDR 8x400Gb/s per node";
const std::string kInNode = "[8, 9, 10, 11, 12, 13, 14, 15]", kAcross = "[0, 8, 16, 24, 32, 40, 48, 56]";

}  // namespace

TEST_CASE("groups of one size lie within a node or across nodes, as their ranks say") {
  Reading reading(kernel(50, 8, kInNode) + "," + kernel(900, 8, kAcross) + "," + kernel(800, 8, kAcross), 64,
                  {.fabric = kFabric});
  REQUIRE(reading.faults.empty());
  REQUIRE(reading.collectives().size() == 2);
  for (const costmodel::CollectiveSample& sample : reading.collectives()) {
    const bool across = sample.seconds > 100e-6;
    CHECK(sample.seconds == doctest::Approx(across ? 800e-6 : 50e-6));
    CHECK(sample.placement == (across ? costmodel::Placement{8, 8, 1} : costmodel::Placement{8, 1, 8}));
  }
  REQUIRE(reading.measurements.notes.size() == 1);
  CHECK(reading.measurements.notes[0].find("assuming 8 GPUs each") != std::string::npos);
}

TEST_CASE("nodes that are stated, or the fabric's words, tell how many ranks a node holds") {
  for (const MeasurementDefaults& said : {MeasurementDefaults{.fabric = kFabric, .nodes = 4},
                                          MeasurementDefaults{.fabric = "IB NDR 4x400Gb/s per 4-GPU node"}}) {
    Reading reading(kernel(50, 2, "[3, 4]"), 16, said);
    REQUIRE(reading.collectives().size() == 1);
    CHECK(reading.collectives()[0].placement == costmodel::Placement{2, 2, 1});
    CHECK(reading.measurements.notes.empty());
  }
  CHECK(Reading(kernel(50, 2, "[0, 1]"), 16, {.nodes = 3}).faults.faults().size() == 1);
  CHECK(Reading(kernel(50, 2, "[0, 1]"), 16, {.ranks = 32}).faults.faults().size() == 1);
}

TEST_CASE("a group whose ranks are not listed counts only where its nodes are certain") {
  Reading part(kernel(50, 8, ""), 64, {.fabric = kFabric});
  CHECK(part.collectives().empty());
  CHECK(part.left_out("does not list") == 1);
  CHECK(Reading(kernel(50, 8, "")).left_out("does not list") == 1);  // of a job of any size
  const auto placement = [](Reading reading) {
    REQUIRE(reading.collectives().size() == 1);
    return reading.collectives()[0].placement;
  };
  CHECK(placement(Reading(kernel(50, 8, ""), 0, {.nodes = 1})) == costmodel::Placement{8, 1, 8});
  CHECK(placement(Reading(kernel(50, 4, ""), 8)) == costmodel::Placement{4, 1, 4});
  CHECK(placement(Reading(kernel(50, 64, ""), 64, {.fabric = kFabric})) == costmodel::Placement{64, 8, 8});
  CHECK(placement(Reading(kernel(50, 16, ""), 0, {.fabric = kFabric, .nodes = 2})) ==
        costmodel::Placement{16, 2, 8});
}

TEST_CASE("groups that are spread unevenly, or over parts of racks, are not modelled") {
  CHECK(Reading(kernel(50, 3, "[0, 1, 8]"), 16, {.fabric = kFabric}).left_out("unevenly") == 1);
  // Every seventy-second rank: racks, not one.
  CHECK(Reading(kernel(50, 2, "[0, 72]"), 144, {.fabric = "NVLink5/NVL72"}, 72).left_out("racks") == 1);
  CHECK(Reading(kernel(50, 2, "[0, 72]"), 144, {}, 72).left_out("racks") == 1);
  Reading in_rack(kernel(50, 2, "[0, 64]"), 72, {}, 72);
  REQUIRE(in_rack.collectives().size() == 1);
  CHECK(in_rack.collectives()[0].placement == costmodel::Placement{2, 1, 2});
}

TEST_CASE("lists of ranks that PyTorch cut short are filled up where their stride is one") {
  CHECK(listed_ranks("[0, 1]", 2) == std::vector<int>{0, 1});
  const std::vector<int> filled = listed_ranks("[1, 9, 17, ..., 505]", 64);
  REQUIRE(filled.size() == 64);
  CHECK(filled[10] == 81);
  for (const char* odd : {"",
                          "[]",
                          "[",
                          "]",
                          "[0]",
                          "[0, 1, 2]",
                          "[0, x]",
                          "[1, 0]",
                          "[0, 0]",
                          "[0,, 1]",
                          "[-1, 0]",
                          "[0, 1e30]",
                          "[0, 2147483647]",
                          "0, 1",
                          "[..., 1]",
                          "[0, ...]",
                          "[0, ..., ..., 1]",
                          "[0.5, 1]",
                          "[nan, 1]",
                          "[,]",
                          "[ ]",
                          "[[0, 1]]"}) {
    CAPTURE(odd);
    CHECK(listed_ranks(odd, 2).empty());
  }
  CHECK(listed_ranks("[0, 1, 8, ..., 505]", 64).empty());
  CHECK(listed_ranks("[0, 1, 2, ..., 62]", 64).empty());
  CHECK(listed_ranks("[0, 1, 2, ..., 62]", 0).empty());
}

TEST_CASE("kernels that lack a type, a duration or a number of ranks are counted by what they lack") {
  const std::string ranks = "[0, 1]";
  Reading reading(kernel(50, 2, ranks, "") + "," + kernel(0, 2, ranks) + "," + kernel(50, 0, ranks) + "," +
                  kernel(50, 2147483647, ranks) + "," + kernel(50, 1, "[0]"));
  CHECK(reading.collectives().empty());
  CHECK(reading.left_out("without an element type") == 1);
  CHECK(reading.left_out("without a duration") == 1);
  CHECK(reading.left_out("how many ranks") == 2);
  CHECK(reading.left_out("of one rank") == 1);
  Reading odd(R"({"ph":"M"},)" + kernel(50, 2, ranks) +
              R"(,{"ph":"X","name":"ncclKernel","dur":5,"args":{"Collective name":"allreduce","dtype":3}})");
  CHECK(odd.collectives().size() == 1);
  REQUIRE(odd.faults.faults().size() == 1);
  CHECK(odd.faults.faults()[0].key == "dtype");
  CHECK(odd.faults.faults()[0].allowed == "a text");
  CHECK(odd.faults.faults()[0].problem.find("event 3, it is 3") != std::string::npos);
}

}  // namespace trainfront::inputs
