#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainfront::engine {

// What status.json says of a sweep, and whether that can still be true.
struct Observed {
  enum class State { kRunning, kStopped, kFinished, kDead };
  struct Plan {
    std::string id;  // empty: none yet
    double time_s = 0;
    double cost_usd = 0;
  };

  State state = State::kRunning;
  std::string dead_because;  // "process 123 on n17 is gone"
  std::string stopped_by;
  std::string host;
  std::int64_t pid = 0;
  double age_s = 0;      // since it was written
  double running_s = 0;  // from the run's start to then
  std::int64_t ranks = 0, threads = 0, runs = 0, front = 0, checkpoints = 0;
  double plans = 0, illegal_everywhere = 0, covered_share = 0, evaluated = 0, pruned = 0, plans_per_s = 0;
  double to_go_s = -1;           // negative: not known
  double checkpoint_age_s = -1;  // negative: none
  Plan fastest, cheapest;
  std::string text;  // the file
};

// Reads status.json of the folder. A sweep on this machine is dead when its process is gone; one elsewhere
// when it has been silent for a minute and for ten of its intervals. Throws UsageError where no sweep has
// written, MachineError.
Observed observe(const std::filesystem::path& folder, std::int64_t now_s, const std::string& this_host);

// Some lines for people, each ended by a newline.
std::string observed_text(const Observed& seen, const std::filesystem::path& folder);

}  // namespace trainfront::engine
