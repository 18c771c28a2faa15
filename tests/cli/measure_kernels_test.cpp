#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

using namespace trainfront::tests;

// PyTorch need not be at hand: a stand-in takes its place, so that this tests the script's own work and that
// its tables are what calibrate reads, not what kernels take.
TEST_CASE("the script that users measure with writes tables that calibrate takes") {
  const Ended python = Process({"python3", "--version"}).wait();
  if (python.status != 0) {
    MESSAGE("skipped: no python3");
    return;
  }
  const std::string source = TRAINFRONT_SOURCE_DIR;
  const Folder folder;
  const Ended ended = Process({"python3", source + "/docs/measure_kernels.py", "--dry-run", "--gpu",
                               "H100-SXM5-80GB", folder.path().string()},
                              {"PYTHONPATH=" + source + "/tests/cli/torch_stub", "PYTHONDONTWRITEBYTECODE=1"})
                          .wait();
  INFO(ended.err);
  REQUIRE(ended.status == 0);

  std::vector<std::string> words = {"validate", "--json"};
  for (const char* table : {"gemm.csv", "attention.csv", "elementwise.csv"})
    words.push_back((folder / table).string());
  const Ended validated = run_program(words);
  INFO(validated.err);
  REQUIRE(validated.status == 0);
  const nlohmann::json answer = nlohmann::json::parse(validated.out);
  CHECK(answer["bad_lines"] == 0);
  CHECK(answer["not_modelled"].empty());
  CHECK(answer["rows"] == 20);  // 6 products, 2 attention calls, 4 kernels at 3 sizes
  CHECK(answer["predicted"] == 20);
}
