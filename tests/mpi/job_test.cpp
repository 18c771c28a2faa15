#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/checkpoint.hpp"
#include "engine/job.hpp"
#include "mpi/synthetic.hpp"
#include "mpi/world.hpp"
#include "tests/new_folder.hpp"

using namespace trainfront::engine;
using trainfront::tests::kPlansPerBlock;
using trainfront::tests::synthetic_walk;
using trainfront::tests::world;
namespace search = trainfront::search;

namespace {

JobWork synthetic_work(std::uint64_t blocks) {
  JobWork work;
  work.plans = blocks * kPlansPerBlock;
  work.blocks = blocks;
  work.walker = synthetic_walk;
  work.problem = 0x1234;
  return work;
}

JobOptions quiet(int threads) {
  JobOptions options;
  options.threads = threads;
  options.progress = ProgressMode::kNone;
  options.share.report_every_s = 0.02;
  return options;
}

search::Harvest whole(std::uint64_t blocks) {
  search::Harvest harvest;
  synthetic_walk(0, blocks, {}, harvest);
  return harvest;
}

// All but what depends on the run.
void check_same(const search::Harvest& got, const search::Harvest& want) {
  CHECK(got.front == want.front);
  CHECK(got.counts.plans == want.counts.plans);
  CHECK(got.counts.illegal == want.counts.illegal);
  CHECK(got.counts.out_of_memory == want.counts.out_of_memory);
  CHECK(got.counts.evaluated + got.counts.pruned[0] == want.counts.evaluated);
  REQUIRE(got.least_memory_excess.has_value() == want.least_memory_excess.has_value());
  if (!want.least_memory_excess) return;
  CHECK(got.least_memory_excess->index == want.least_memory_excess->index);
  CHECK(got.least_memory_excess->excess_bytes == want.least_memory_excess->excess_bytes);
}

// A folder that all ranks see, empty at first and gone at the end.
class SharedFolder {
 public:
  SharedFolder() {
    std::string made;
    if (world().rank() == 0) made = trainfront::tests::new_folder("trainfront-mpi-").string();
    path_ = world().broadcast(made);
  }
  ~SharedFolder() {
    world().barrier();
    if (world().rank() == 0) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("any number of ranks and threads finds what one walk over everything finds") {
  for (const std::uint64_t blocks : {0u, 1u, 2u, 5u, 1000u}) {
    for (const int threads : {1, 2, 3}) {
      CAPTURE(blocks);
      CAPTURE(threads);
      const JobResult result = run_job(world(), synthetic_work(blocks), quiet(threads));
      CHECK(result.complete);
      if (world().rank() == 0) check_same(result.harvest, whole(blocks));
    }
  }
}

TEST_CASE("a tree of two levels finds the same") {
  JobOptions options = quiet(1);
  options.share.fan_out = 2;
  const JobResult result = run_job(world(), synthetic_work(700), options);
  CHECK(result.complete);
  if (world().rank() == 0) check_same(result.harvest, whole(700));
}

TEST_CASE("a slow rank gets less to do") {
  if (world().size() == 1) return;
  const bool slow = world().rank() == world().size() - 1;
  const std::uint64_t even_split = 300;
  const std::uint64_t blocks = even_split * static_cast<std::uint64_t>(world().size());
  std::uint64_t done_here = 0;
  JobWork work = synthetic_work(blocks);
  work.walker = [&](std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                    search::Harvest& harvest, const std::function<bool()>&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 20 : 1) * (last - first));
    done_here += last - first;
    return synthetic_walk(first, last, incumbent, harvest);
  };
  const JobResult result = run_job(world(), work, quiet(1));
  if (world().rank() == 0) check_same(result.harvest, whole(blocks));
  if (slow) CHECK(done_here < even_split / 2);
}

TEST_CASE("a signal on any one rank stops all, and a rerun goes on where they stopped") {
  const SharedFolder folder;
  const std::uint64_t blocks = 1000 * static_cast<std::uint64_t>(world().size());
  std::atomic<int> walks = 0;
  int signal_at = 0;  // the walk that raises it; 0: none
  JobWork work = synthetic_work(blocks);
  work.walker = [&](std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                    search::Harvest& harvest, const std::function<bool()>&) {
    std::this_thread::sleep_for(std::chrono::microseconds(500) * (last - first));
    synthetic_walk(first, last, incumbent, harvest);
    if (++walks == signal_at) std::raise(SIGTERM);
    return true;
  };
  JobOptions options = quiet(2);
  options.folder = folder.path();

  std::uint64_t resumed_before = 0;
  for (int stops = 0; stops < 3; ++stops) {
    CAPTURE(stops);
    walks = 0;
    signal_at = world().rank() == (stops + 1) % world().size() ? 5 : 0;
    const JobResult result = run_job(world(), work, options);
    CHECK_FALSE(result.complete);
    if (world().rank() == 0) {
      CHECK(std::filesystem::exists(folder.path() / kCheckpointName));
      CHECK(result.done.count() > 0);
      CHECK(result.done.count() >= resumed_before);
      CHECK(result.facts.blocks_resumed == resumed_before);
      CHECK(result.harvest.counts.plans == result.done.count() * kPlansPerBlock);
      resumed_before = result.done.count();
    }
  }
  signal_at = 0;
  const JobResult result = run_job(world(), work, options);
  CHECK(result.complete);
  if (world().rank() == 0) check_same(result.harvest, whole(blocks));
}

TEST_CASE("a stop does not wait for blocks that take long, and a rerun walks them anew") {
  const SharedFolder folder;
  const std::uint64_t blocks = 40 * static_cast<std::uint64_t>(world().size());
  bool slow = true;
  std::atomic<int> given_up = 0;
  JobWork work = synthetic_work(blocks);
  work.walker = [&](std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                    search::Harvest& harvest, const std::function<bool()>& give_up) {
    if (9 - first % 10 < last - first) {  // one block of ten, for a minute
      for (int wait = 0; slow && wait < 60'000; ++wait) {
        ++harvest.counts.plans;  // half of the block is in the harvest when it is given up
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!give_up()) continue;
        ++given_up;
        return false;
      }
    }
    return synthetic_walk(first, last, incumbent, harvest);
  };
  JobOptions options = quiet(2);
  options.folder = folder.path();
  options.time_limit_s = 0.5;
  const auto begin = std::chrono::steady_clock::now();
  options.begun = begin;
  const JobResult stopped = run_job(world(), work, options);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK_FALSE(stopped.complete);
  CHECK(world().lowest(-given_up.load()) < 0);
  if (world().rank() == 0) CHECK(stopped.harvest.counts.plans == stopped.done.count() * kPlansPerBlock);
  slow = false;
  options.time_limit_s = 600;
  const JobResult result = run_job(world(), work, options);
  CHECK(result.complete);
  if (world().rank() == 0) check_same(result.harvest, whole(blocks));
}

TEST_CASE("the checkpoint of another problem is refused on all ranks") {
  const SharedFolder folder;
  const JobWork work = synthetic_work(10);
  if (world().rank() == 0) {
    Snapshot other;
    other.problem = work.problem + 1;
    other.plans = work.plans;
    other.blocks = work.blocks;
    save_checkpoint(folder.path() / kCheckpointName, other);
  }
  world().barrier();
  JobOptions options = quiet(1);
  options.folder = folder.path();
  CHECK_THROWS_WITH_AS(run_job(world(), work, options), doctest::Contains("the input has changed"),
                       SharedFailure);
  options.fresh = true;
  CHECK(run_job(world(), work, options).complete);
}

TEST_CASE("a thread that throws ends the walk with its reason") {
  if (world().size() > 1) return;  // there it ends the whole job; see the tests of the program
  JobWork work = synthetic_work(100);
  work.walker = [](std::uint64_t first, std::uint64_t, const search::Front&, search::Harvest&,
                   const std::function<bool()>&) {
    if (first > 40) throw std::runtime_error("block 41 is broken");
    return true;
  };
  CHECK_THROWS_WITH(run_job(world(), work, quiet(2)), "block 41 is broken");
}
