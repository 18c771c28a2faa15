#include <ctime>
#include <stdexcept>

#include "engine/job.hpp"
#include "engine/run.hpp"

// A job that would take a minute, on whose last rank the walk throws after some blocks: to see that the whole
// job ends at once and says why.
int main() {
  using namespace trainfront;
  engine::Invocation job;
  job.parallel = [](engine::World& world) {
    engine::JobWork work;
    work.plans = work.blocks = 1'000'000;
    int walks = 0;
    work.walker = [&](std::uint64_t, std::uint64_t, const search::Front&, search::Harvest&,
                      const std::function<bool()>&) {
      timespec pause{0, 60'000};
      nanosleep(&pause, nullptr);
      if (world.rank() == world.size() - 1 && ++walks > 20) throw std::runtime_error("the walk is broken");
      return true;
    };
    engine::JobOptions options;
    options.threads = 1;
    options.progress = engine::ProgressMode::kNone;
    engine::run_job(world, work, options);
    return 0;
  };
  return engine::run(job);
}
