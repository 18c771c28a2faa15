#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

// --layout with all that a row of the front says of a plan.
std::string layout_of(const json& row) {
  std::string layout;
  for (const char* key :
       {"provider",    "region", "instance",     "price_model", "device",     "gpus",
        "framework",   "tp",     "sp",           "cp",          "cp_type",    "recompute_modules",
        "pp",          "vpp",    "ep",           "etp",         "zero",       "shard_group",
        "micro_batch", "r",      "global_batch", "recompute",   "schedule",   "protection",
        "sub_shards",  "spares", "k_max",        "islands",     "inner_steps"}) {
    const std::string value = row[key].is_string() ? row[key].get<std::string>() : row[key].dump();
    if (!layout.empty()) layout += ',';
    layout.append(key).append(1, '=').append(value);
  }
  return layout;
}

}  // namespace

TEST_CASE("what the front says of a plan leads back to it, also where the sweep file leaves a number open") {
  const Folder folder;
  // Spares as a share of the nodes, k_max as the best: the front has numbers.
  spew(folder / "s.toml",
       replaced(replaced(small_sweep(), "r = [2, 3]", "r = [2, 3]\nspares = \"2%\"\nnode_mtbf = \"200h\""),
                "\"spare\"]", "\"spare\", \"elastic\"]"));
  REQUIRE(run_program({"sweep", folder / "s.toml", "-o", folder / "out"}).status == 0);
  const json front = json::parse(slurp(folder / "out/front.json"))["front"];
  REQUIRE(front.size() > 1);
  bool open = false;
  for (const json& row : front) {
    CAPTURE(row.dump());
    open = open || row["k_max"] > 0 || row["spares"] > 0;
    const Ended ended = run_program({"explain", folder / "s.toml", "--layout", layout_of(row), "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(json::parse(ended.out)["plan"] == row);
  }
  CHECK(open);
}

TEST_CASE("a framework without published runs says so in every answer") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep() + "[layout]\nframework = [\"deepspeed\"]\n");
  const Ended sweep = run_program({"sweep", folder / "s.toml", "-o", folder / "out"});
  REQUIRE(sweep.status == 0);
  CHECK(sweep.out.find(
            "No published run of this kind of model stands behind the constants of deepspeed-2026") !=
        std::string::npos);
  const json front = json::parse(slurp(folder / "out/front.json"))["front"];
  REQUIRE(!front.empty());
  for (const json& row : front) {
    CHECK(row["framework_profile"] == "deepspeed-2026");
    CHECK((row["evidence"] == "extrapolated" || row["evidence"] == "data_sheet"));
    CHECK((row["memory_fit"] == "fits" || row["memory_fit"] == "borderline"));
  }
  const json explained = json::parse(
      run_program({"explain", folder / "s.toml", "--plan", front[0]["id"].get<std::string>(), "--json"}).out);
  CHECK(explained["memory"]["fit"] == front[0]["memory_fit"]);
  CHECK(explained["evidence"][0]["framework_has_runs"] == false);
}

TEST_CASE("what no plan can have is refused, whatever the key") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  for (const char* key :
       {"tp", "cp", "pp", "vpp", "ep", "etp", "zero", "shard_group", "dp", "gpus", "islands", "inner_steps",
        "global_batch", "micro_batch", "r", "sub_shards", "spares", "k_max"})
    for (const char* value : {"0", "-2", "99999999999", "2.5"}) {
      const Ended ended =
          run_program({"explain", folder / "s.toml", "--layout", std::string(key) + "=" + value, "--json"});
      CHECK_MESSAGE((ended.status == 0 || ended.status == 2 || ended.status == 3), key, "=", value, ": ",
                    ended.status, ended.err);
      const bool may_be_zero = key == std::string("zero") || key == std::string("shard_group") ||
                               key == std::string("spares") || key == std::string("k_max");
      if (value != std::string("0") || !may_be_zero) CHECK_MESSAGE(ended.status == 2, key, "=", value);
    }
}

TEST_CASE("a goal that no plan meets ends explain and redundancy with status 3, and the output says so") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep() + "[goal]\nbudget = 1\n");
  for (const int ranks : {1, 2}) {
    const Ended budget = run_program_on(ranks, {"explain", folder / "s.toml", "--json"});
    CHECK(budget.status == 3);
    const json explained = json::parse(budget.out);
    CHECK(explained["status"] == "budget_missed");
    CHECK(explained["criterion"] == "fastest within $1.00");
    CHECK(explained["plan"]["cost_usd"] > 1);
  }
  const Ended deadline = run_program({"explain", folder / "s.toml", "--deadline", "1h"});
  CHECK(deadline.status == 3);
  CHECK(deadline.out.find("no plan is cheapest within 1 h 00 min; the nearest is") != std::string::npos);
  const Ended met = run_program({"explain", folder / "s.toml", "--deadline", "1000d", "--json"});
  CHECK(met.status == 0);
  CHECK(json::parse(met.out)["status"] == "done");

  const Ended redundancy = run_program_on(2, {"redundancy", folder / "s.toml", "--json"});
  CHECK(redundancy.status == 3);
  CHECK(json::parse(redundancy.out)["status"] == "budget_missed");
  CHECK(redundancy.err.find("stays within the budget") != std::string::npos);
}

TEST_CASE("plans that are struck more often than every two steps are counted apart, and explain says so") {
  const Folder folder;
  spew(folder / "s.toml", R"([model]
name = "llama-3.1-8b"
[recipe]
tokens = 15e12
sequence_length = 8192
global_batch = [8192]
precision = "bf16"
[layout]
framework = "megatron"
tp = [8]
pp = [1]
cp = [1]
zero = [0]
micro_batch = [1]
[cluster]
devices = ["h200-sxm"]
gpus = [64]
[failures]
protection = ["spare"]
r = [4]
node_mtbf = "10m"
)");
  const Ended sweep = run_program({"sweep", folder / "s.toml", "--output", folder / "out"});
  CHECK(sweep.status == 3);
  CHECK(sweep.err.find("struck too often") != std::string::npos);
  const json counts = json::parse(slurp(folder / "out/front.json"))["counts"];
  CHECK(counts["struck_too_often"] == counts["non_finite"]);
  CHECK(counts["struck_too_often"] > 0);
  const Ended explained = run_program({"explain", folder / "s.toml", "--plan", "0", "--json"});
  CHECK(explained.status == 3);
  CHECK(json::parse(explained.out)["reason"] == "struck_too_often");
}
