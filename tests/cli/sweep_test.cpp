#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

const std::vector<std::string> kColumns = {"id",
                                           "time_to_train_s",
                                           "cost_usd",
                                           "provider",
                                           "region",
                                           "instance",
                                           "price_model",
                                           "device",
                                           "gpus",
                                           "nodes",
                                           "tp",
                                           "sp",
                                           "cp",
                                           "cp_type",
                                           "cp_heads",
                                           "pp",
                                           "vpp",
                                           "ep",
                                           "etp",
                                           "dp",
                                           "zero",
                                           "shard_group",
                                           "micro_batch",
                                           "global_batch",
                                           "recompute",
                                           "recompute_modules",
                                           "schedule",
                                           "protection",
                                           "r",
                                           "islands",
                                           "inner_steps",
                                           "step_time_s",
                                           "tokens_per_s_per_gpu",
                                           "mfu",
                                           "memory_bytes",
                                           "memory_margin",
                                           "memory_fit",
                                           "checkpoint_interval_s",
                                           "availability",
                                           "goodput",
                                           "bottleneck",
                                           "evidence",
                                           "framework_profile"};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a sweep writes its front, and all ranks and threads write the same bytes") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  const Ended alone =
      run_program({"sweep", folder / "s.toml", "-o", folder / "one", "--json", "--threads", "1"});
  REQUIRE_MESSAGE(alone.status == 0, alone.err);

  const json printed = json::parse(alone.out);
  const json front = json::parse(slurp(folder / "one/front.json"));
  CHECK(front["schema"] == 1);
  REQUIRE(front["front"].size() >= 2);
  CHECK(front["counts"]["front"] == front["front"].size());
  CHECK(printed["status"] == "done");
  CHECK(printed["counts"] == front["counts"]);
  CHECK(printed["front"] == front["front"]);
  for (const std::string& column : kColumns) CHECK_MESSAGE(front["front"][0].contains(column), column);
  CHECK(std::filesystem::exists(folder / "one/report.html"));
  const json run = json::parse(slurp(folder / "one/run.json"));
  CHECK(run["ranks"] == 1);
  CHECK(run["complete"] == true);
  std::uint64_t pruned = 0;
  for (const auto& [bound, plans] : run["pruned"].items()) pruned += plans.get<std::uint64_t>();
  CHECK(pruned > 0);
  CHECK(run["covered"] == front["counts"]["plans"]);
  CHECK(run["covered"] == run["illegal"].get<std::uint64_t>() + run["out_of_memory"].get<std::uint64_t>() +
                              run["evaluated"].get<std::uint64_t>() + pruned);

  SUBCASE("the front is a front: faster is dearer, by ascending time") {
    for (std::size_t i = 1; i < front["front"].size(); ++i) {
      CHECK(front["front"][i - 1]["time_to_train_s"] < front["front"][i]["time_to_train_s"]);
      CHECK(front["front"][i - 1]["cost_usd"] > front["front"][i]["cost_usd"]);
    }
  }
  SUBCASE("the table has the same rows, with numbers that read back exactly") {
    const std::vector<std::string> rows = lines(slurp(folder / "one/front.csv"));
    REQUIRE(rows.size() == front["front"].size() + 1);
    const std::vector<std::string> header = split(rows[0]);
    for (const std::string& column : kColumns) {
      CHECK_MESSAGE(std::count(header.begin(), header.end(), column) == 1, column);
    }
    REQUIRE(header[1] == "time_to_train_s");
    for (std::size_t i = 1; i < rows.size(); ++i) {
      CHECK(std::stod(split(rows[i])[1]) == front["front"][i - 1]["time_to_train_s"].get<double>());
    }
  }
  SUBCASE("bytes do not depend on ranks, threads or bounds") {
    struct Case {
      int ranks;
      std::vector<std::string> more;
    };
    int number = 0;
    for (const Case& each :
         {Case{1, {"--threads", "2"}}, Case{2, {"--threads", "1"}}, Case{3, {"--threads", "2"}},
          Case{7, {"--threads", "1"}}, Case{1, {"--brute-force"}}}) {
      CAPTURE(each.ranks);
      const std::filesystem::path out = folder / ("other" + std::to_string(++number));
      std::vector<std::string> words = {"sweep", folder / "s.toml", "-o", out, "--progress", "none"};
      words.insert(words.end(), each.more.begin(), each.more.end());
      const Ended ended = run_program_on(each.ranks, words);
      REQUIRE_MESSAGE(ended.status == 0, ended.err);
      CHECK(slurp(out / "front.csv") == slurp(folder / "one/front.csv"));
      CHECK(slurp(out / "front.json") == slurp(folder / "one/front.json"));
      std::size_t files = 0;
      for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(out)) ++files;
      CHECK(files == 5);  // status.json too
    }
  }
  SUBCASE("the locale changes nothing") {
    const Ended ended = run_program({"sweep", folder / "s.toml", "-o", folder / "c"}, {"LC_ALL=C"});
    CHECK(ended.status == 0);
    CHECK(slurp(folder / "c/front.csv") == slurp(folder / "one/front.csv"));
  }
}

TEST_CASE("plan answers the goal from the front") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(run_program({"sweep", folder / "s.toml", "-o", folder / "out"}).status == 0);
  const json front = json::parse(slurp(folder / "out/front.json"))["front"];
  const double fastest_s = front.front()["time_to_train_s"];
  const double slowest_s = front.back()["time_to_train_s"];

  SUBCASE("plans near the best differ in device or shape and are little worse, whatever the threads") {
    const std::vector<std::string> words = {"plan", folder / "s.toml", "--json", "--near-best",
                                            "5",    "--within",        "0.8",    "--threads"};
    std::vector<std::string> one = words, two = words;
    one.emplace_back("1");
    two.emplace_back("2");
    const Ended ended = run_program(one);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(run_program(two).out == ended.out);
    const json said = json::parse(ended.out);
    REQUIRE(said["near_best"].size() > 0);
    double before = 0;
    for (const json& near : said["near_best"]) {
      CHECK(near["worse_by"] >= before);
      CHECK(near["worse_by"] <= 0.8);
      before = near["worse_by"];
      const auto shape = [](const json& row) {
        return std::array<json, 4>{row["device"], row["tp"], row["pp"], row["cp"]};
      };
      CHECK(shape(near) != shape(said["answer"]));
    }
    CHECK(run_program({"plan", folder / "s.toml", "--near-best", "5"}).out.find("other devices and shapes") !=
          std::string::npos);
  }
  SUBCASE("cheapest in time: the last of the front that ends in time") {
    const Ended ended = run_program(
        {"plan", folder / "s.toml", "--json", "--deadline", std::to_string(slowest_s * 1.001) + "s"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(json::parse(ended.out)["answer"] == front.back());
  }
  SUBCASE("fastest for the money") {
    const Ended ended = run_program({"plan", folder / "s.toml", "--json", "--budget", "1B"});
    REQUIRE(ended.status == 0);
    CHECK(json::parse(ended.out)["answer"] == front.front());
  }
  SUBCASE("a deadline that nobody meets: status 3, the fastest plan and its price") {
    const Ended ended = run_program(
        {"plan", folder / "s.toml", "--json", "--deadline", std::to_string(fastest_s * 0.5) + "s"});
    CHECK(ended.status == 3);
    const json printed = json::parse(ended.out);
    CHECK(printed["status"] == "deadline_missed");
    CHECK(printed["nearest"] == front.front());
    CHECK_FALSE(printed.contains("answer"));
    CHECK(ended.err.find("the fastest takes") != std::string::npos);
  }
  SUBCASE("a budget that nobody keeps") {
    const Ended ended = run_program({"plan", folder / "s.toml", "--json", "--budget", "1"});
    CHECK(ended.status == 3);
    CHECK(json::parse(ended.out)["nearest"] == front.back());
  }
  SUBCASE("goals that are no goals") {
    for (const char* text : {"-5d", "0", "soon", "1e400", "nan"}) {
      CAPTURE(text);
      CHECK(run_program({"plan", folder / "s.toml", std::string("--deadline=") + text}).status == 2);
      CHECK(run_program({"plan", folder / "s.toml", std::string("--budget=") + text}).status == 2);
    }
  }
}

TEST_CASE("where nothing fits, the nearest miss is told") {
  const Folder folder;
  std::string sweep = small_sweep();
  const std::string model = "name = \"llama-3.1-8b\"";
  sweep.replace(sweep.find(model), model.size(), "name = \"llama-3.1-405b\"");
  sweep += "[layout]\ntp = 1\npp = 1\ncp = 1\nzero = 0\n";
  spew(folder / "s.toml", sweep);
  const Ended ended = run_program({"sweep", folder / "s.toml", "-o", folder / "out", "--json"});
  CHECK_MESSAGE(ended.status == 3, ended.err);
  const json printed = json::parse(ended.out);
  CHECK(printed["status"] == "infeasible");
  CHECK(printed["smallest_memory_excess"]["excess_bytes"] > 0);
  CHECK(printed["smallest_memory_excess"].contains("stage"));
  CHECK(ended.err.find("nearest to fitting") != std::string::npos);
  const json front = json::parse(slurp(folder / "out/front.json"));
  CHECK(front["front"].empty());
  CHECK(front["counts"]["out_of_memory"] > 0);
}

TEST_CASE("with a probability the front is taken at it, by the same bytes whatever the ranks and bounds") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(run_program({"sweep", folder / "s.toml", "-o", folder / "mean"}).status == 0);
  const auto at = [&](int ranks, const char* out, std::vector<std::string> more) {
    std::vector<std::string> words = {"sweep", folder / "s.toml", "-o", folder / out, "--probability", "0.9"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program_on(ranks, words);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return slurp(folder / out / "front.json");
  };
  const std::string bytes = at(1, "one", {"--threads", "1"});
  CHECK(at(1, "brute", {"--brute-force", "--threads", "2"}) == bytes);
  CHECK(at(3, "three", {}) == bytes);
  const json front = json::parse(bytes);
  const json mean = json::parse(slurp(folder / "mean/front.json"));
  CHECK(mean["problem"]["probability"].is_null());
  CHECK(front["problem"]["probability"] == 0.9);
  CHECK(front["counts"]["non_finite"] == mean["counts"]["non_finite"]);
  bool longer = false;
  for (const json& row : front["front"]) {
    const double time_s = row["time_to_train_s"];
    CHECK(time_s == std::max(row["time_mean_s"].get<double>(), row["time_p90_s"].get<double>()));
    longer |= time_s > row["time_mean_s"].get<double>();
    CHECK(row["time_p10_s"] <= row["time_p50_s"]);
    CHECK(row["time_p90_s"] <= row["time_p95_s"]);
    CHECK(row["cost_p90_usd"] <= row["cost_p95_usd"]);
  }
  CHECK(longer);
  for (const json& row : mean["front"]) CHECK(row["time_to_train_s"] == row["time_mean_s"]);

  SUBCASE("the deadline then has to hold with it, and the file may say so") {
    const std::string wanted = "deadline = \"" + front["front"][0]["time_mean_s"].dump() + "s\"\n";
    spew(folder / "late.toml", small_sweep() + "[goal]\nprobability = 0.95\n" + wanted);
    CHECK(run_program({"plan", folder / "late.toml"}).status == 3);
    spew(folder / "mean.toml", small_sweep() + "[goal]\n" + wanted);
    CHECK(run_program({"plan", folder / "mean.toml"}).status == 0);
  }
  SUBCASE("what is no probability") {
    for (const char* wrong : {"0", "1", "0.3", "nan", "inf", "-0.9", "90%", "often"}) {
      const Ended ended = run_program({"plan", folder / "s.toml", "--probability", wrong});
      CHECK(ended.status == 2);
      CHECK_MESSAGE(ended.err.find("a number from 0.5 to 0.99 is needed") != std::string::npos, ended.err);
    }
  }
}

TEST_CASE("explain takes a plan apart into parts that sum to their totals") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(run_program({"sweep", folder / "s.toml", "-o", folder / "out"}).status == 0);
  const json row = json::parse(slurp(folder / "out/front.json"))["front"][0];
  const Ended ended = run_program({"explain", folder / "s.toml", "--plan", row["id"].get<std::string>(),
                                   "--json", "--trace", folder / "trace.json"});
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  const json explained = json::parse(ended.out);
  CHECK(explained["plan"] == row);
  const auto sum = [](const json& parts) {
    double total = 0;
    for (const auto& [name, value] : parts.items()) total += value.get<double>();
    return doctest::Approx(total).epsilon(1e-9);
  };
  CHECK(explained["step"]["total_s"].get<double>() == sum(explained["step"]["parts"]));
  CHECK(explained["memory"]["total_bytes"].get<double>() == sum(explained["memory"]["parts"]));
  CHECK(explained["run"]["time_to_train_s"].get<double>() == sum(explained["run"]["parts_s"]));
  CHECK(explained["run"]["cost_usd"].get<double>() == sum(explained["run"]["parts_usd"]));
  CHECK(explained["run"]["time_to_train_s"].get<double>() == sum(explained["run"]["losses_s"]));
  CHECK(explained["run"]["cost_usd"].get<double>() == sum(explained["run"]["losses_usd"]));
  for (const char* list : {"parts_s", "parts_usd", "losses_s", "losses_usd"})
    for (const auto& part : explained["run"][list].items()) CHECK_MESSAGE(part.value() >= 0, part.key());
  const json& losses = explained["run"]["losses_s"];
  if (losses["preemption"] == 0) {
    const double down_s = losses["checkpoints"].get<double>() + losses["restarts"].get<double>();
    CHECK(1 - down_s / row["time_mean_s"].get<double>() ==
          doctest::Approx(row["availability"].get<double>()).epsilon(1e-9));
  }
  CHECK_FALSE(explained["critical_path"].empty());
  // Threads of each stage: kernels, and what links do; every event on one of them.
  std::set<std::array<int, 2>> threads, used;
  const json trace = json::parse(slurp(folder / "trace.json"));
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") continue;
    (event["name"] == "thread_name" ? threads : used)
        .insert(std::array{event["pid"].get<int>(), event["tid"].get<int>()});
  }
  CHECK(threads == used);
  CHECK(threads.size() > 2);

  SUBCASE("by what it must be") {
    const std::string layout =
        "tp=" + row["tp"].dump() + ",pp=" + row["pp"].dump() + ",gpus=" + row["gpus"].dump();
    const Ended found = run_program({"explain", folder / "s.toml", "--layout", layout, "--json"});
    REQUIRE_MESSAGE(found.status == 0, found.err);
    CHECK(json::parse(found.out)["plan"]["tp"] == row["tp"]);
  }
  SUBCASE("what is no plan") {
    CHECK(run_program({"explain", folder / "s.toml", "--plan", "x"}).status == 2);
    CHECK(run_program({"explain", folder / "s.toml", "--plan", "99999999999999"}).status == 2);
    CHECK(run_program({"explain", folder / "s.toml", "--layout", "tpp=8"}).status == 2);
    CHECK(run_program({"explain", folder / "s.toml", "--layout", "tp=5"}).status == 3);
  }
}

TEST_CASE("bad input ends with status 2, all faults at once, and leaves no folder") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep() + "bandwith = 3\n[recipee]\nx = 1\n");
  const Ended ended = run_program_on(2, {"sweep", folder / "s.toml", "-o", folder / "out"});
  CHECK(ended.status == 2);
  CHECK(ended.err.find("bandwith") != std::string::npos);
  CHECK(ended.err.find("did you mean \"recipe\"?") != std::string::npos);
  CHECK(ended.err.find("bandwith", ended.err.find("bandwith") + 10) == std::string::npos);  // said once
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("a folder that cannot be written to is said before any work") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  const Ended ended = run_program({"sweep", folder / "s.toml", "-o", "/proc/no-such-place/out"});
  CHECK(ended.status == 1);
  CHECK(ended.err.find("/proc/no-such-place") != std::string::npos);
  spew(folder / "file", "here");
  CHECK(run_program({"sweep", folder / "s.toml", "-o", folder / "file"}).status == 1);
  CHECK(slurp(folder / "file") == "here");
}
