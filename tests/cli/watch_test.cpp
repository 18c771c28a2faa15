#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::vector<std::string> sweep_words(const Folder& folder, const std::string& out) {
  return {"sweep", folder / "s.toml", "-o",        folder / out, "--progress", "none", "--checkpoint-every",
          "50ms",  "--brute-force",   "--threads", "1"};
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Until the sweep has saved something; false if it has ended before.
bool wait_for_checkpoint(Process& process, const std::filesystem::path& folder) {
  for (int i = 0; i < 3000 && process.is_running(); ++i) {
    if (std::filesystem::exists(folder / "sweep.checkpoint")) return true;
    sleep_s(0.01);
  }
  return false;
}

json load(const std::filesystem::path& path) {
  return json::parse(slurp(path));
}

// A partial front is marked in all its files, its plans are plans of the space that the whole front is at
// least as good as, and what is covered and what remains are the whole.
void check_partial(const std::filesystem::path& partial, const std::filesystem::path& whole) {
  const json front = load(partial / "front.json");
  const json all = load(whole / "front.json");
  CHECK(front["schema"] == 1);
  CHECK(front["partial"] == true);
  CHECK(load(partial / "run.json")["partial"] == true);
  CHECK(load(partial / "run.json")["complete"] == false);
  CHECK(slurp(partial / "report.html").find("This sweep ended early") != std::string::npos);
  const std::string table = slurp(partial / "front.csv");
  CHECK(table.substr(0, table.find('\n')).ends_with(",partial"));
  const std::uint64_t covered = front["counts"]["plans"], left = front["remaining"]["plans"];
  CHECK(covered + left == all["counts"]["plans"].get<std::uint64_t>());
  CHECK(left > 0);
  std::uint64_t by_hardware = 0;
  for (const json& part : front["remaining"]["hardware"]) by_hardware += part["plans"].get<std::uint64_t>();
  CHECK(by_hardware == left);
  for (const json& row : front["front"]) {
    const auto is_as_good = [&](const json& other) {
      return other["time_to_train_s"] <= row["time_to_train_s"] && other["cost_usd"] <= row["cost_usd"];
    };
    CHECK(std::any_of(all["front"].begin(), all["front"].end(), is_as_good));
  }
}

void check_goes_on(const Folder& folder, const std::string& out) {
  const Ended ended = run_program(sweep_words(folder, out));
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  for (const char* file : {"front.csv", "front.json"}) {
    CHECK(slurp(folder / (out + "/" + file)) == slurp(folder / (std::string("whole/") + file)));
  }
  CHECK_FALSE(std::filesystem::exists(folder / (out + "/partial")));
  CHECK_FALSE(std::filesystem::exists(folder / (out + "/sweep.checkpoint")));
  CHECK(load(folder / (out + "/status.json"))["state"] == "finished");
}

}  // namespace

TEST_CASE("a sweep can be watched, asked for its front so far, and gone on with") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  REQUIRE(run_program(sweep_words(folder, "whole")).status == 0);
  const Ended finished = run_program({"watch", folder / "whole"});
  CHECK(finished.status == 0);
  CHECK(finished.out.find("finished after") != std::string::npos);

  Process process(on_ranks(2, sweep_words(folder, "out")));
  if (!wait_for_checkpoint(process, folder / "out")) return;  // a machine so fast that it was over
  const Ended seen = run_program({"watch", folder / "out", "--once", "--json"});
  const json status = json::parse(seen.out);
  const std::uint64_t named = load(folder / "whole/front.json")["counts"]["plans"];
  CHECK(status["plans"].get<std::uint64_t>() + status["illegal_everywhere"].get<std::uint64_t>() == named);
  const Ended asked = run_program({"watch", folder / "out", "--finish", "--every", "50ms"});
  const bool stood = std::filesystem::exists(folder / "out/partial/front.csv");
  const Ended ended = process.wait();
  if (ended.status == 0) return;
  REQUIRE_MESSAGE(ended.status == 75, ended.err);
  CHECK(asked.status == 75);
  CHECK(stood);  // when `watch` came back
  CHECK(asked.out.find("stopped (finish)") != std::string::npos);
  CHECK(load(folder / "out/status.json")["stopped_by"] == "finish");
  check_partial(folder / "out/partial", folder / "whole");
  CHECK_FALSE(std::filesystem::exists(folder / "out/front.csv"));
  check_goes_on(folder, "out");
}

TEST_CASE("a time limit ends a sweep with the front so far") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  REQUIRE(run_program(sweep_words(folder, "whole")).status == 0);
  Ended ended = run_program(with(sweep_words(folder, "out"), {"--time-limit", "1ms", "--json"}));
  CHECK(ended.status == 75);
  CHECK(ended.out.empty());
  CHECK(ended.err.find("stopped (time limit) while layouts were listed: nothing was searched") !=
        std::string::npos);
  json printed;
  int runs = 0;
  do {
    ended = run_program(with(sweep_words(folder, "out"), {"--time-limit", "0.4s", "--json"}));
    if (ended.status == 0) break;
    REQUIRE_MESSAGE(ended.status == 75, ended.err);
    if (ended.out.empty()) continue;  // still while layouts were listed
    printed = json::parse(ended.out);
    CHECK(printed["status"] == "stopped");
    CHECK(printed["stopped_by"] == "time limit");
    CHECK(printed["partial"] == true);
    if (std::filesystem::exists(folder / "out/partial"))
      check_partial(folder / "out/partial", folder / "whole");
  } while (++runs < 3);
  check_goes_on(folder, "out");
}

TEST_CASE("of a sweep that was killed the front so far can be had") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  const Ended nothing = run_program(with(sweep_words(folder, "out"), {"--front-so-far"}));
  CHECK(nothing.status == 2);
  CHECK(nothing.err.find("nothing is saved in") != std::string::npos);
  REQUIRE(run_program(sweep_words(folder, "whole")).status == 0);

  Process process(with({TRAINFRONT_PROGRAM}, sweep_words(folder, "out")));
  if (!wait_for_checkpoint(process, folder / "out")) return;
  const Ended meanwhile = run_program(with(sweep_words(folder, "out"), {"--front-so-far"}));
  CHECK_MESSAGE(meanwhile.status == 75, meanwhile.err);  // and the sweep goes on
  process.signal(SIGKILL);
  process.wait();
  if (!std::filesystem::exists(folder / "out/sweep.checkpoint")) return;
  const Ended dead = run_program({"watch", folder / "out"});
  CHECK(dead.status == 1);
  CHECK(dead.out.find("dead: process") != std::string::npos);
  const json told = json::parse(run_program({"watch", folder / "out", "--json"}).out);
  CHECK(told["state"] == "dead");
  CHECK(run_program({"watch", folder / "out", "--finish"}).status == 2);

  const std::string saved = slurp(folder / "out/sweep.checkpoint");
  CHECK(run_program(with(sweep_words(folder, "out"), {"--front-so-far"})).status == 75);
  CHECK(slurp(folder / "out/sweep.checkpoint") == saved);
  check_partial(folder / "out/partial", folder / "whole");
  check_goes_on(folder, "out");
}

TEST_CASE("another goal, a comment or another order of sections does not make a checkpoint worthless") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep() + "[goal]\ndeadline = \"90d\"\n");
  REQUIRE(run_program(sweep_words(folder, "whole")).status == 0);
  Process process(with({TRAINFRONT_PROGRAM}, sweep_words(folder, "out")));
  if (!wait_for_checkpoint(process, folder / "out")) return;
  process.signal(SIGTERM);
  if (process.wait().status != 75) return;
  spew(folder / "s.toml", "# cheaper, please\n[goal]\nbudget = \"900M\"\n" + long_sweep());
  check_goes_on(folder, "out");
  CHECK(load(folder / "out/run.json")["blocks_resumed"] > 0);
}

TEST_CASE("a second sweep in a folder where one runs is refused, and does it no harm") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  Process process(with({TRAINFRONT_PROGRAM}, sweep_words(folder, "out")));
  if (!wait_for_checkpoint(process, folder / "out")) return;
  process.signal(SIGSTOP);
  const Ended second = run_program(sweep_words(folder, "out"));
  CHECK(second.status == 2);
  CHECK(second.err.find("a sweep is writing into") != std::string::npos);
  process.signal(SIGCONT);
  CHECK(process.wait().status == 0);
}

TEST_CASE("watching what is no sweep's folder") {
  const Folder folder;
  const Ended none = run_program({"watch", folder.path()});
  CHECK(none.status == 2);
  CHECK(none.err.find("no sweep has written into") != std::string::npos);
  spew(folder / "status.json", "{\"state\": \"running\"}");
  CHECK(run_program({"watch", folder.path()}).status == 2);
}
