#include "engine/status.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/status_reader.hpp"
#include "engine/wall_clock.hpp"
#include "tests/engine/folder.hpp"

using namespace trainfront::engine;
namespace search = trainfront::search;
using trainfront::tests::Folder;

namespace {

constexpr std::int64_t kNoon_s = 1'764'417'600;  // 2025-11-29T12:00:00Z

Status some_status() {
  Status status;
  status.run = {"sweep.toml", "n17", this_process(), 4, 8, 3, kNoon_s - 600};
  status.pace = Course{1000, 200, 300}.pace({.plans = 400}, 50);
  status.counts.plans = 400;
  status.counts.evaluated = 77;
  status.counts.pruned[1] = 5;
  status.front = 2;
  status.fastest = search::Point{86400, 2e6, 12};
  status.cheapest = search::Point{2 * 86400, 1e6, 34};
  status.checkpoints = 6;
  status.last_checkpoint_s = kNoon_s - 12;
  status.updated_s = kNoon_s;
  status.update_every_s = 2;
  return status;
}

Observed read_back(const Status& status, std::int64_t now_s, const std::string& host) {
  const Folder folder;
  write_file(folder.path() / kStatusName, status_json(status));
  return observe(folder.path(), now_s, host);
}

}  // namespace

TEST_CASE("a status reads back as it was written") {
  const Observed seen = read_back(some_status(), kNoon_s + 3, "n17");
  CHECK(seen.state == Observed::State::kRunning);
  CHECK(seen.plans == 1000);
  CHECK(seen.covered_share == 0.4);  // 400 of 1000; 200 are no work
  CHECK(seen.plans_per_s == 2);      // (400 - 300) in 50 s
  CHECK(seen.to_go_s == 300);        // 600 left
  CHECK(seen.age_s == 3);
  CHECK(seen.running_s == 600);
  CHECK(seen.checkpoint_age_s == 15);
  CHECK(seen.evaluated == 77);
  CHECK(seen.pruned == 5);
  CHECK(seen.ranks == 4);
  CHECK(seen.threads == 8);
  CHECK(seen.fastest.id == "12");
  CHECK(seen.cheapest.cost_usd == 1e6);
  CHECK(observed_text(seen, "out").find("40.0 % of 1.00 k plans covered") != std::string::npos);
  CHECK(observed_text(seen, "out").find("200 more are illegal everywhere") != std::string::npos);
}

TEST_CASE("before anything is known a status says so") {
  Status status = some_status();
  status.pace = Course{1000, 0, 300}.pace({.plans = 300}, 5);
  status.fastest = status.cheapest = std::nullopt;
  status.last_checkpoint_s = std::nullopt;
  const Observed seen = read_back(status, kNoon_s, "n17");
  CHECK(seen.to_go_s < 0);
  CHECK(seen.fastest.id.empty());
  CHECK(observed_text(seen, "out").find("no checkpoint yet") != std::string::npos);
}

TEST_CASE("a sweep on this machine is dead when its process is gone, or another has its number") {
  Status status = some_status();
  CHECK(read_back(status, kNoon_s + 1000, "n17").state == Observed::State::kRunning);
  status.run.process.started += 1;
  CHECK(read_back(status, kNoon_s, "n17").state == Observed::State::kDead);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(process_with(child).started == 0);  // a process that has ended and is not waited for yet
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) == 0);
  status.run.process = {child, 1};
  const Observed seen = read_back(status, kNoon_s, "n17");
  CHECK(seen.state == Observed::State::kDead);
  CHECK(seen.dead_because.find("is gone") != std::string::npos);
}

TEST_CASE("a sweep on another machine is dead when it has been silent for long") {
  const Status status = some_status();
  CHECK(read_back(status, kNoon_s + 59, "n18").state == Observed::State::kRunning);
  const Observed seen = read_back(status, kNoon_s + 61, "n18");
  CHECK(seen.state == Observed::State::kDead);
  CHECK(seen.dead_because.find("n17 has been silent for") != std::string::npos);
  Status seldom = status;
  seldom.update_every_s = 60;
  CHECK(read_back(seldom, kNoon_s + 599, "n18").state == Observed::State::kRunning);
}

TEST_CASE("one that stopped or finished is not dead, however old") {
  Status status = some_status();
  status.run.process = {1 << 30, 1};
  status.state = Status::State::kStopped;
  status.stopped_by = {StopCause::Kind::kSignal, SIGUSR1};
  const Observed stopped = read_back(status, kNoon_s + 1'000'000, "n17");
  CHECK(stopped.state == Observed::State::kStopped);
  CHECK(stopped.stopped_by == "SIGUSR1");
  status.state = Status::State::kFinished;
  CHECK(read_back(status, kNoon_s + 1'000'000, "n17").state == Observed::State::kFinished);
}

TEST_CASE("what is no status file is said") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(observe(folder.path(), kNoon_s, "n17"), doctest::Contains("no sweep has written into"),
                       UsageError);
  const std::string whole = status_json(some_status());
  for (const std::string& text : {std::string("{}"), std::string("[1]"), std::string("hello"), std::string(),
                                  whole.substr(0, whole.size() / 2)}) {
    CAPTURE(text);
    write_file(folder.path() / kStatusName, text);
    CHECK_THROWS_AS(observe(folder.path(), kNoon_s, "n17"), UsageError);
  }
}

TEST_CASE("times of the wall clock read back") {
  CHECK(utc_text(kNoon_s) == "2025-11-29T12:00:00Z");
  CHECK(parse_utc("2025-11-29T12:00:00Z") == kNoon_s);
  CHECK_FALSE(parse_utc("2025-11-29").has_value());
  CHECK_FALSE(parse_utc("2025-11-29T12:00:00Z and more").has_value());
}

TEST_CASE("plans that are illegal everywhere are no part of what is covered, were they past 2^64") {
  const Pace pace = Course{std::uint64_t{1} << 62, ~std::uint64_t{0}, 0}.pace({.plans = 10}, 1);
  CHECK(pace.covered == 10);
  CHECK(pace.share < 1e-17);
  CHECK(pace.excluded == ~std::uint64_t{0});
  const Pace nothing_to_do = Course{0, 7, 0}.pace({}, 1);
  CHECK(nothing_to_do.share == 1);
  CHECK(nothing_to_do.to_go_s == 0);
}

TEST_CASE("half-written files of killed writers are taken away, and nothing else") {
  const Folder folder;
  write_file(folder.path() / "front.csv", "x");
  write_file(folder.path() / "front.csv.writing-12", "half");
  remove_half_written(folder.path());
  CHECK(std::filesystem::exists(folder.path() / "front.csv"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "front.csv.writing-12"));
}
