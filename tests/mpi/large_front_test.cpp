#include <doctest/doctest.h>

#include <chrono>

#include "engine/archive.hpp"
#include "engine/job.hpp"
#include "mpi/world.hpp"

using namespace trainfront::engine;
using trainfront::tests::world;
namespace search = trainfront::search;

namespace {

constexpr std::uint64_t kPoints = 1'000'000;
constexpr std::uint64_t kPointsPerBlock = 500;

// Every plan is on the front.
search::Point point(std::uint64_t index) {
  return {1 + static_cast<double>(index), static_cast<double>(2 * kPoints - index), index};
}

bool all_on_the_front(std::uint64_t first, std::uint64_t last, const search::Front&, search::Harvest& harvest,
                      const std::function<bool()>&) {
  for (std::uint64_t index = first * kPointsPerBlock; index < last * kPointsPerBlock; ++index) {
    harvest.front.add(point(index));
    ++harvest.counts.plans;
    ++harvest.counts.evaluated;
  }
  return true;
}

}  // namespace

TEST_CASE("a front of a million points comes together from all ranks, in pieces") {
  JobWork work;
  work.plans = kPoints;
  work.blocks = kPoints / kPointsPerBlock;
  work.walker = all_on_the_front;
  JobOptions options;
  options.threads = 2;
  options.progress = ProgressMode::kNone;
  const JobResult result = run_job(world(), work, options);
  CHECK(result.complete);
  if (world().rank() != 0) return;
  const auto points = result.harvest.front.points();
  REQUIRE(points.size() == kPoints);
  bool same = true;
  for (std::uint64_t index = 0; index < kPoints; ++index) same = same && points[index] == point(index);
  CHECK(same);
}

TEST_CASE("a snapshot of a million points is packed as it is, 24 bytes a point") {
  if (world().rank() != 0) return;
  Snapshot snapshot;
  for (std::uint64_t index = 0; index < kPoints; ++index) snapshot.harvest.front.add(point(index));
  const std::string bytes = pack(snapshot);
  CHECK(bytes.size() < 24 * kPoints + 1000);
  CHECK(unpack_snapshot(bytes).harvest.front == snapshot.harvest.front);
}
