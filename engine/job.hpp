#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/archive.hpp"
#include "engine/progress.hpp"
#include "engine/share.hpp"
#include "engine/status.hpp"
#include "engine/stop_cause.hpp"
#include "engine/team.hpp"
#include "engine/transport.hpp"

namespace trainfront::engine {

// A space of plans as the run loop sees it.
struct JobWork {
  std::uint64_t plans = 0;
  std::uint64_t excluded = 0;  // plans beside these that are done with before it begins
  std::uint64_t blocks = 0;
  Walker walker;
  std::uint64_t problem = 0;  // fingerprint of the input
};

struct JobOptions {
  int threads = 0;  // per rank; 0: World::fair_threads
  ProgressMode progress = ProgressMode::kAuto;
  std::filesystem::path folder;  // for the checkpoint; empty: none is written
  bool fresh = false;            // ignore a checkpoint that is there
  double checkpoint_every_s = 30;
  // From `begun` on; then the sweep stops as on a signal.
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  bool only_resume = false;      // take up what a former run has saved, and search no further
  StatusFile* status = nullptr;  // rank 0's, kept up to date if there is one; its folder is looked into for
                                 // a request to finish
  ShareOptions share;
};

// How the run went; none of it goes into the front's files.
struct JobFacts {
  int ranks = 1;
  int threads = 1;  // of rank 0
  std::vector<std::string> hosts;
  double elapsed_s = 0;      // of this run
  double elapsed_all_s = 0;  // and of those it went on from
  std::uint64_t runs = 1;
  std::uint64_t blocks_resumed = 0;
  std::uint64_t excluded = 0;  // JobWork's, among the counts but no work
  std::uint64_t checkpoints = 0;
  double checkpoint_s = 0;  // spent on writing them
  double status_s = 0;      // and status.json
  double bookkeeping_s =
      0;  // these two, progress and merging what came in: all that rank 0 does beside others
};

struct JobResult {
  bool complete = false;
  StopCause stopped_by;     // if it is not complete
  std::string not_saved;    // rank 0 only: why what is done could not be saved then, and what there is
  search::Harvest harvest;  // rank 0 only
  BlockRanges done;         // rank 0 only
  JobFacts facts;           // rank 0 only
  // Rank 0 only: saves all that is done, where checkpoints are kept; a rerun then has nothing left to search.
  // Throws MachineError.
  std::function<void()> keep;
};

// Walks all blocks on all ranks and threads. Goes on from a checkpoint of the same problem; on a signal saves
// one and returns what is there. Collective.
JobResult run_job(World& world, const JobWork& work, const JobOptions& options);

}  // namespace trainfront::engine
