// The engine's own sharing (Share, Team, World) on ranks that SimGrid's SMPI simulates: only the walk is
// replaced, by a sleep as long as a block of a real sweep takes. Usage, under smpirun:
//   simulated_job BLOCKS_PER_RANK BLOCK_MS POINTS [FAN_OUT]
// Block times are spread over a factor of ten (log-uniform, BLOCK_MS in the mean). The front grows to POINTS.
#include <mpi.h>
#include <simgrid/actor.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "engine/share.hpp"
#include "search/block_walk.hpp"

// Harvest::merge wants it; no plan here misses the memory.
void trainfront::search::keep_nearest(std::optional<NearMiss>&, const std::optional<NearMiss>&) {}

namespace {

using namespace trainfront;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double uniform(std::uint64_t block, std::uint64_t stream) {
  return static_cast<double>(mix(block * 2 + stream + 1) >> 11) * 0x1p-53;
}

// Log-uniform over a factor of ten has the mean (10 - 1) / ln 10 = 3.909 of its least value.
double block_s(std::uint64_t block, double mean_s) {
  return mean_s * std::pow(10, uniform(block, 0)) / (9 / std::log(10));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  engine::World world;
  const std::uint64_t blocks =
      static_cast<std::uint64_t>(std::atoll(argv[1])) * static_cast<std::uint64_t>(world.size());
  const double mean_s = std::atof(argv[2]) * 1e-3;
  const auto points = static_cast<std::uint64_t>(std::atoll(argv[3]));
  engine::ShareOptions options;
  if (argc > 4) options.fan_out = std::atoi(argv[4]);

  double worked_s = 0;
  std::uint64_t pieces = 0;
  engine::Team team(1, [&](std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                           search::Harvest& harvest, const std::function<bool()>&) {
    double length_s = 0;
    for (std::uint64_t block = first; block < last; ++block) {
      length_s += block_s(block, mean_s);
      // A hyperbola with POINTS steps, met in random order.
      const double at = std::floor(uniform(block, 1) * static_cast<double>(points));
      const search::Point point{1 + at, 1e6 / (1 + at), block};
      if (!incumbent.dominates(point)) harvest.front.add(point);
    }
    harvest.counts.plans += last - first;
    sg_actor_sleep_for(length_s);
    worked_s += length_s;
    ++pieces;
    return true;
  });
  engine::Share share(world, team, engine::BlockRanges({0, blocks}), options);
  std::uint64_t covered = 0;
  std::size_t front = 0;
  search::Front whole;
  share.on_news = [&](const engine::Report& news) {
    covered += news.harvest.counts.plans;
    whole.merge(news.harvest.front);
    front = whole.points().size();
  };
  world.barrier();
  const double begin_s = MPI_Wtime();
  team.run([&] { return share.tend(); });
  const double own_s = MPI_Wtime() - begin_s;
  world.settle();
  const double elapsed_s = MPI_Wtime() - begin_s;

  const double mine[] = {worked_s, static_cast<double>(world.sent()), static_cast<double>(pieces)};
  double sums[3] = {};
  MPI_Reduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  double least_s = 0, most_s = 0;
  MPI_Reduce(&worked_s, &least_s, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&worked_s, &most_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world.rank() == 0) {
    std::printf(
        "%d ranks, fan-out %d: %llu blocks of %.0f ms, front %zu, %.2f s, efficiency %.4f, busy %.2f to %.2f "
        "s, "
        "root busy %.2f of %.2f s, %.0f messages, %.1f a rank, root sent %lld, %.0f pieces\n",
        world.size(), options.fan_out, static_cast<unsigned long long>(blocks), 1e3 * mean_s, front,
        elapsed_s, sums[0] / (elapsed_s * world.size()), least_s, most_s, worked_s, own_s, sums[1],
        sums[1] / world.size(), static_cast<long long>(world.sent()), sums[2]);
    if (covered != blocks) std::printf("LOST: %llu covered\n", static_cast<unsigned long long>(covered));
  }
  return 0;
}
