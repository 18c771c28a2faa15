#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

Ended redundancy(std::vector<std::string> options) {
  options.insert(options.begin(), {"redundancy", "--groups", "64"});
  return run_program(options);
}

}  // namespace

TEST_CASE("where nothing finishes no row is the best") {
  const Ended text = redundancy({"--mtbf", "1ms"});
  CHECK(text.status == 0);
  CHECK(text.out.find(" *") == std::string::npos);
  CHECK(text.out.find("ever finishes") != std::string::npos);
  CHECK(json::parse(redundancy({"--mtbf", "1ms", "--json"}).out)["optimal_r"].is_null());
  CHECK(redundancy({"--mtbf", "5m"}).out.find(" *") != std::string::npos);
}

TEST_CASE("one row is marked as the best, and none that was given up is said to be available") {
  const Ended alone = run_program({"redundancy", "--groups", "1", "--mtbf", "1h"});
  CHECK(alone.out.find("checkpoint *") != std::string::npos);
  CHECK(alone.out.find("spare *") == std::string::npos);
  const std::vector<std::string> hopeless = {"--mtbf", "1h", "--checkpoint", "1e5", "--restart", "0",
                                             "--r",    "2",  "--simulate",   "2",   "--json"};
  const json row = json::parse(redundancy(hopeless).out)["rows"][0];
  CHECK(row["finishes"] == false);
  CHECK(row["simulated"]["time_to_train_ratio"].is_null());
  CHECK(row["simulated"]["availability"].is_null());
}

TEST_CASE("elastic shrinking is a row beside the others, by option, with its best k_max") {
  const json rows = json::parse(redundancy({"--mtbf", "1h", "--r", "2", "--elastic", "--json"}).out)["rows"];
  CHECK(rows.back()["scheme"] == "elastic");
  CHECK(rows.back()["k_max"] > 0);
  CHECK(rows.back()["time_to_train_ratio"] < rows[0]["time_to_train_ratio"]);
  const Ended back =
      redundancy({"--mtbf", "1h", "--r", "2", "--elastic", "--repair", "2h", "--simulate", "2"});
  CHECK(back.status == 0);
  CHECK(back.out.find("come back after their repair") != std::string::npos);
  CHECK(redundancy({"--mtbf", "1h", "--repair", "2h"}).status == 2);
}

TEST_CASE("a restart that never succeeds ends a simulated run") {
  const Ended text = redundancy(
      {"--mtbf", "5m", "--restart", "1e9", "--r", "2", "--failures-in-restart", "--simulate", "1"});
  CHECK(text.status == 0);
  CHECK(text.out.find("never") != std::string::npos);
}

TEST_CASE("one trial has no standard error") {
  const Ended text = redundancy({"--mtbf", "5m", "--r", "4", "--simulate", "1"});
  CHECK(text.status == 0);
  CHECK(text.out.find("+- -") != std::string::npos);
  CHECK(text.out.find("+- 0.00") == std::string::npos);
  const json row =
      json::parse(redundancy({"--mtbf", "5m", "--r", "4", "--simulate", "1", "--json"}).out)["rows"][0];
  CHECK(row["simulated"]["failures_stderr"].is_null());
  CHECK(row["simulated"]["time_to_train_ratio_stderr"].is_null());
}

TEST_CASE("numbers out of range are refused everywhere alike") {
  for (const char* threads : {"0", "-7", "99999", "many"}) {
    CAPTURE(threads);
    CHECK(redundancy({"--mtbf", "5m", "--threads", threads}).status == 2);
  }
  CHECK(redundancy({"--mtbf", "5m", "--stack-time", "1e300"}).status == 2);
  CHECK(redundancy({"--mtbf", "5m", "--weibull-shape", "0.4"}).status == 2);
}

TEST_CASE("an environment that asks for too many threads does not crash") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  for (const char* variable : {"OMP_NUM_THREADS=999999999", "SLURM_CPUS_PER_TASK=99999"}) {
#ifdef TRAINFRONT_SANITIZED
    // LLVM's OpenMP asks for memory for all of them, more than the sanitizer's allocator ever gives.
    if (std::string_view(variable).starts_with("OMP")) continue;
#endif
    CAPTURE(variable);
    const Ended ended = run_program(
        {"redundancy", "--groups", "8", "--mtbf", "1h", "--r", "2", "--simulate", "2"}, {variable});
    CHECK_MESSAGE(ended.status == 0, ended.err);
  }
}

TEST_CASE("calibrate tells a folder from a file, and ranks from nonsense") {
  const Folder folder;
  const Ended ended =
      run_program({"calibrate", folder.path(), "--device", "h100-sxm", "-o", folder / "p.toml"});
  CHECK(ended.status == 2);
  CHECK(ended.err.find("is a folder, not a file") != std::string::npos);
  CHECK(ended.err.find("internal error") == std::string::npos);
  spew(folder / "log", "x");
  CHECK(run_program({"calibrate", folder / "log", "--device", "h100-sxm", "--ranks", "-3"}).status == 2);
}

TEST_CASE("the table is the same to the last byte on any number of ranks and threads") {
  const std::vector<std::string> system = {"redundancy", "--groups",   "40",  "--mtbf", "10m",
                                           "--restart",  "20m",        "--r", "2:5",    "--steps",
                                           "2000",       "--simulate", "7",   "--json"};
  const Ended alone = run_program_on(1, system);
  REQUIRE_MESSAGE(alone.status == 0, alone.err);
  REQUIRE(json::parse(alone.out)["rows"][1]["simulated"]["time_to_train_ratio"] > 1);
  for (const int ranks : {1, 2, 3}) {
    for (const char* threads : {"1", "3"}) {
      std::vector<std::string> words = system;
      words.insert(words.end(), {"--threads", threads});
      const Ended shared = run_program_on(ranks, words);
      CHECK(shared.status == 0);
      CHECK_MESSAGE(shared.out == alone.out, ranks, " ranks of ", threads, " threads");
    }
  }
}

TEST_CASE("simulated runs take their failures from a file of dates") {
  const Folder folder;
  // One failure 100 s into a training of 50 steps of 10 s: three steps since the checkpoint at 71 s are lost,
  // and 9 s of a fourth; the restart takes 60 s.
  spew(folder / "trace.csv", "time,units\n2026-01-01 00:00:00,0\n2026-01-01 00:01:40,1\n");
  const std::vector<std::string> words = {"redundancy",
                                          "--groups",
                                          "8",
                                          "--failures",
                                          folder / "trace.csv",
                                          "--mtbf",
                                          "1h",
                                          "--restart",
                                          "60",
                                          "--checkpoint",
                                          "1",
                                          "--stack-time",
                                          "10",
                                          "--steps",
                                          "50",
                                          "--checkpoint-every",
                                          "7",
                                          "--r",
                                          "2",
                                          "--simulate",
                                          "2",
                                          "--json"};
  const Ended ended = run_program(words);
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  const json table = json::parse(ended.out);
  // 7 steps and a save in each 71 s, the last save after 49 steps.
  CHECK(table["rows"][0]["scheme"] == "checkpoint");
  CHECK(table["rows"][0]["simulated"]["time_to_train_ratio"] ==
        doctest::Approx((50 * 10 + 7 * 1 + 60 + (100 - 71)) / 500.0));
  CHECK(table["notes"][0].get<std::string>().find("dated failures") != std::string::npos);

  spew(folder / "bad.csv", "time,units\nsoon,1\n");
  std::vector<std::string> bad = words;
  bad[4] = folder / "bad.csv";
  const Ended refused = run_program(bad);
  CHECK(refused.status == 2);
  CHECK(refused.err.find("bad.csv:2:1") != std::string::npos);
  bad[4] = folder / "none.csv";
  CHECK(run_program(bad).status == 2);
  CHECK(run_program({"redundancy", "--groups", "8", "--mtbf", "1h", "--failures", folder / "trace.csv"})
            .status == 2);
}

TEST_CASE("a place that cannot be written to is known before the work, and ends with status 2") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  const std::string nowhere = (folder / "none" / "file").string();
  const Ended plot = run_program({"redundancy", "--groups", "8", "--mtbf", "1h", "--plot", nowhere});
  CHECK(plot.status == 2);
  CHECK_MESSAGE(plot.err.find("--plot: cannot write") != std::string::npos, plot.err);
  const Ended trace = run_program({"explain", folder / "s.toml", "--trace", nowhere});
  CHECK(trace.status == 2);
  CHECK_MESSAGE(trace.err.find("--trace: cannot write") != std::string::npos, trace.err);
}

TEST_CASE("what a system cannot be is refused, and what never ends is said to") {
  const auto asked = [](std::vector<std::string> options) {
    options.insert(options.begin(), "redundancy");
    options.push_back("--json");
    return run_program(options);
  };
  CHECK(asked({"--groups", "10", "--mtbf", "1h", "--r", "2:11"}).status == 2);
  for (const char* r : {"0", "0:3", "-2", "3:2", "x"})
    CHECK_MESSAGE(asked({"--groups", "10", "--mtbf", "1h", "--r", r}).status == 2, r);
  for (const char* groups : {"0", "-3", "1.5", "1e9", "many"})
    CHECK_MESSAGE(asked({"--groups", groups, "--mtbf", "1h"}).status == 2, groups);
  for (const char* option : {"--mtbf", "--stack-time"})
    for (const char* value : {"0", "-5", "nan", "1e400", ""})
      CHECK_MESSAGE(asked({"--groups", "10", "--mtbf", "1h", option, value}).status == 2, option, value);
  for (const char* option : {"--restart", "--checkpoint", "--detect", "--reorder", "--sync-time", "--steps",
                             "--checkpoint-every", "--k-max", "--sub-shards", "--simulate"})
    CHECK_MESSAGE(asked({"--groups", "10", "--mtbf", "1h", option, "-1s"}).status == 2, option);
  // Twenty failures a step: nothing is ever done, in no time and without a number.
  const Ended never = asked({"--groups", "10", "--mtbf", "0.5", "--stack-time", "10", "--restart", "10",
                             "--r", "2", "--simulate", "2"});
  CHECK(never.status == 0);
  const json table = json::parse(never.out);
  CHECK(table["rows"].back()["time_to_train_ratio"].is_null());
  CHECK(table["rows"].back()["finishes"] == false);
  CHECK(table["notes"].dump().find("more often than one step") != std::string::npos);
}

TEST_CASE("a plan of SPARe keeps its voluntary restart, unless another is asked for") {
  const Folder folder;
  spew(folder / "s.toml", R"([model]
name = "llama-3.1-8b"
[recipe]
tokens = 1e12
sequence_length = 8192
global_batch = 1024
precision = "bf16"
[cluster]
devices = ["h100-sxm"]
gpus = [256]
[market]
catalog = []
)" + own_offer("lab", 16) + R"([failures]
node_mtbf = "20d"
protection = ["spare"]
r = [2]
)");
  REQUIRE(run_program({"sweep", folder / "s.toml", "--output", folder / "out"}).status == 0);
  const json plan = json::parse(slurp(folder / "out/front.json"))["front"][0];
  REQUIRE(plan["k_max"] > 0);
  const auto availability = [&](std::vector<std::string> more) {
    std::vector<std::string> options = {
        "redundancy", folder / "s.toml", "--plan", plan["id"].get<std::string>(), "--r", "2", "--json"};
    options.insert(options.end(), more.begin(), more.end());
    const json answer = json::parse(run_program(options).out);
    for (const json& row : answer["rows"])
      if (row["scheme"] == "spare") return row["availability"].get<double>();
    return 0.0;
  };
  const double of_plan = plan["availability"];
  CHECK(std::abs(availability({}) - of_plan) < 0.004);
  CHECK(availability({"--k-max", "0"}) > of_plan + 0.008);
}
