#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

// small_sweep() with a part of its text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = small_sweep();
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

Ended sweep(const Folder& folder, const std::string& out, int ranks,
            const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"sweep", folder / "s.toml", "-o", folder / out, "--progress",
                                    "none",  "--threads",       "1",  "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return ranks == 1 ? run_program(words) : run_program_on(ranks, words);
}

void check_same(const Folder& folder, const std::string& a, const std::string& b) {
  for (const char* file : {"front.csv", "front.json"}) {
    CHECK(slurp(folder / (a + "/" + file)) == slurp(folder / (b + "/" + file)));
  }
}

std::string one_plan() {
  return R"([model]
name = "llama-3.1-8b"
[recipe]
tokens = 1e12
sequence_length = 8192
global_batch = 512
[layout]
tp = 1
sp = false
cp = 1
pp = 1
vpp = 1
zero = 2
shard_group = 64
micro_batch = 1
recompute = "full"
schedule = "1f1b"
[cluster]
devices = "h100-sxm"
gpus = 64
[market]
catalog = []
)" + own_offer("lab", 16) +
         R"([failures]
protection = "checkpoint"
)";
}

}  // namespace

TEST_CASE("a space of one plan is searched by one rank of seven") {
  const Folder folder;
  spew(folder / "s.toml", one_plan());
  const Ended alone = sweep(folder, "one", 1);
  REQUIRE_MESSAGE(alone.status == 0, alone.err);
  CHECK(json::parse(alone.out)["front"].size() == 1);
  const Ended many = sweep(folder, "seven", 7);
  REQUIRE_MESSAGE(many.status == 0, many.err);
  check_same(folder, "one", "seven");
}

TEST_CASE("of offers that are equal in all but their names the first stays, whoever finds it") {
  const Folder folder;
  std::string text = small_sweep();
  for (int i = 0; i < 300; ++i) text += own_offer("lab" + std::to_string(i), 8);
  spew(folder / "s.toml", text);
  const Ended one = sweep(folder, "one", 1);
  REQUIRE_MESSAGE(one.status == 0, one.err);
  REQUIRE(sweep(folder, "brute", 1, {"--brute-force"}).status == 0);
  REQUIRE(sweep(folder, "three", 3).status == 0);
  check_same(folder, "one", "brute");
  check_same(folder, "one", "three");
  std::set<std::string> regions;
  const json printed = json::parse(one.out);
  for (const json& row : printed["front"]) {
    if (row["region"].get<std::string>().starts_with("lab") && row["usd_per_node_hour"] == 8.0)
      regions.insert(row["region"]);
  }
  CHECK(regions.size() == 1);
}

TEST_CASE("a deadline that cuts everything ends with status 3, and the front is whole all the same") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(sweep(folder, "open", 1).status == 0);
  const Ended cut = sweep(folder, "cut", 2, {"--deadline", "1s"});
  CHECK(cut.status == 3);
  CHECK(json::parse(cut.out)["status"] == "deadline_missed");
  CHECK(cut.err.find("no plan ends within the deadline") != std::string::npos);
  check_same(folder, "open", "cut");
}

TEST_CASE("more plans than can be numbered are refused in words") {
  const Folder folder;
  std::string text = changed("gpus = [64, 128, 256]", "gpus = {min = 8, max = 8000, step = 8}");
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("global_batch = [512, 1024]", "global_batch = {min = 1, max = 1000, step = 1}");
  replace("r = [2, 3]", "r = {min = 2, max = 20}\nsub_shards = {min = 1, max = 64, step = 1}");
  text += "[islands]\ncount = {min = 1, max = 64, step = 1}\ninner_steps = {min = 1, max = 100, step = 1}\n";
  text += "wan_gbps = 10\nrtt = \"60ms\"\n";
  for (int i = 0; i < 300; ++i) text += own_offer("lab" + std::to_string(i), 8);
  spew(folder / "s.toml", text);
  const Ended ended = sweep(folder, "out", 2);
  CHECK_MESSAGE(ended.status == 2, ended.err);
  CHECK(ended.err.find("2^63") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}
