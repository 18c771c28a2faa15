#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "cli/program.hpp"

using namespace trainfront::tests;

namespace {

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::vector<std::string> sweep_words(const Folder& folder, const std::string& out, int threads) {
  return {"sweep",
          folder / "s.toml",
          "-o",
          folder / out,
          "--progress",
          "none",
          "--checkpoint-every",
          "50ms",
          "--brute-force",
          "--threads",
          std::to_string(threads)};
}

// Until the sweep has saved something (or has ended).
void wait_for_checkpoint(Process& process, const std::filesystem::path& folder) {
  for (int i = 0; i < 3000 && process.is_running(); ++i) {
    if (std::filesystem::exists(folder / "sweep.checkpoint")) return;
    sleep_s(0.01);
  }
}

// What must be true of the folder after a kill at any instant: every file under its final name is whole.
void check_whole(const Folder& folder, const std::string& reference, const std::string& out) {
  for (const char* file : {"front.csv", "front.json"}) {
    const std::filesystem::path path = folder / (out + "/" + file);
    if (std::filesystem::exists(path)) CHECK(slurp(path) == slurp(folder / (reference + "/" + file)));
  }
}

}  // namespace

TEST_CASE("killed at random instants, a sweep goes on and ends with the same bytes") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  std::vector<std::string> reference = sweep_words(folder, "whole", 2);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_program(reference).status == 0);
  const double whole_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::mt19937 random(7);
  int kills = 0;
  Ended last{1, {}, {}};
  for (int run = 0; run < 40 && last.status != 0; ++run) {
    // Any number of ranks and threads may go on from what another left.
    const int ranks = 1 + static_cast<int>(random() % 3);
    Process process(on_ranks(ranks, sweep_words(folder, "killed", 1 + static_cast<int>(random() % 2))));
    if (kills < 6) {
      sleep_s(whole_s * std::uniform_real_distribution<>(0.1, 0.7)(random));
      if (process.is_running()) ++kills;
      process.signal(SIGKILL);
    }
    last = process.wait();
    check_whole(folder, "whole", "killed");
    sleep_s(0.05);  // ranks whose mpiexec was killed take a moment to see it
  }
  CHECK(last.status == 0);
  CHECK(kills > 0);
  check_whole(folder, "whole", "killed");
  CHECK(std::filesystem::exists(folder / "killed/front.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "killed/sweep.checkpoint"));
}

TEST_CASE("a signal saves, ends with status 75, and a rerun goes on to the same bytes") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  REQUIRE(run_program(sweep_words(folder, "whole", 1)).status == 0);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) {
    CAPTURE(signal);
    const std::string out = "stopped" + std::to_string(signal);
    std::vector<std::string> words = sweep_words(folder, out, 1);
    words.insert(words.begin(), TRAINFRONT_PROGRAM);
    Process process(words);
    wait_for_checkpoint(process, folder / out);
    process.signal(signal);
    const Ended ended = process.wait();
    if (ended.status == 0) continue;  // a machine so fast that it was over
    REQUIRE_MESSAGE(ended.status == 75, ended.err);
    CHECK(std::filesystem::exists(folder / (out + "/sweep.checkpoint")));
    CHECK(ended.err.find("Run the same command again") != std::string::npos);
    CHECK(run_program(sweep_words(folder, out, 2)).status == 0);
    check_whole(folder, "whole", out);
    CHECK(slurp(folder / (out + "/run.json")).find("\"blocks_resumed\": 0") == std::string::npos);
  }
}

TEST_CASE("a signal that comes when the answer stands changes nothing") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT, SIGTERM, SIGUSR1, SIGINT}) {
    CAPTURE(signal);
    Process process(on_ranks(2, sweep_words(folder, "out", 1)));
    while (process.is_running() &&
           slurp(folder / "out/status.json").find("\"finished\"") == std::string::npos)
      sleep_s(0.0005);
    process.signal(signal);
    const Ended ended = process.wait();
    // mpiexec, which passes signals on, may itself end by one that comes after the last rank.
    CHECK_MESSAGE((ended.status == 0 || ended.status == 128 + signal), ended.status, ended.err);
    std::filesystem::remove_all(folder / "out");
  }
}

TEST_CASE("a checkpoint of other input is refused unless told to start over") {
  const Folder folder;
  spew(folder / "s.toml", long_sweep());
  std::vector<std::string> words = sweep_words(folder, "out", 1);
  words.insert(words.begin(), TRAINFRONT_PROGRAM);
  Process process(words);
  wait_for_checkpoint(process, folder / "out");
  process.signal(SIGTERM);
  if (process.wait().status != 75) return;
  spew(folder / "s.toml", small_sweep());
  const Ended refused = run_program(sweep_words(folder, "out", 1));
  CHECK(refused.status == 2);
  CHECK(refused.err.find("the input has changed") != std::string::npos);
  std::vector<std::string> fresh = sweep_words(folder, "out", 1);
  fresh.push_back("--fresh");
  CHECK(run_program(fresh).status == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "out/sweep.checkpoint"));
}

TEST_CASE("a checkpoint cut short or foreign is refused in words") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  std::filesystem::create_directories(folder / "out");
  spew(folder / "out/sweep.checkpoint", "trainfront-checkpoint 2 500 00");
  const Ended cut = run_program(sweep_words(folder, "out", 1));
  CHECK(cut.status == 2);
  CHECK(cut.err.find("--fresh") != std::string::npos);
  spew(folder / "out/sweep.checkpoint",
       "\x7f"
       "ELF");
  CHECK(run_program_on(2, sweep_words(folder, "out", 1)).status == 2);
}

TEST_CASE("a finished search whose files cannot be written is kept, and a rerun writes them at once") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(run_program(sweep_words(folder, "whole", 1)).status == 0);
  // A folder in the place of a file: nobody, root neither, can write that file.
  std::filesystem::create_directories(folder / "out/run.json");
  const Ended failed = run_program_on(2, sweep_words(folder, "out", 1));
  CHECK(failed.status == 1);
  CHECK(failed.err.find("run.json") != std::string::npos);
  CHECK(failed.err.find("The finished search is kept in") != std::string::npos);
  CHECK(failed.err.find("internal error") == std::string::npos);
  REQUIRE(std::filesystem::exists(folder / "out/sweep.checkpoint"));
  std::filesystem::remove(folder / "out/run.json");
  CHECK(run_program(sweep_words(folder, "out", 1)).status == 0);
  check_whole(folder, "whole", "out");
  CHECK_FALSE(std::filesystem::exists(folder / "out/sweep.checkpoint"));
  const nlohmann::json run = nlohmann::json::parse(slurp(folder / "out/run.json"));
  CHECK(run["runs"] == 2);
  CHECK(run["blocks_resumed"] > 0);
  CHECK(run["evaluated"] == nlohmann::json::parse(slurp(folder / "whole/run.json"))["evaluated"]);
}
