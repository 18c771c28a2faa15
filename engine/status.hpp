#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/pace.hpp"
#include "engine/process.hpp"
#include "engine/stop_cause.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// In the output folder: how the sweep that writes there is doing, for `trainfront watch` and for scripts.
inline constexpr const char* kStatusName = "status.json";
// A file of this name in the output folder asks the sweep to end with the front so far.
inline constexpr const char* kFinishName = "sweep.finish";

// What rank 0 knows of the whole sweep at one moment.
struct Status {
  enum class State {
    kRunning,
    kStopped,   // before the end, resumable
    kFinished,  // the front's files are written
  };
  struct Run {  // what does not change while it runs
    std::string sweep_file;
    std::string host;
    ProcessId process;
    int ranks = 1;
    int threads = 1;
    std::uint64_t runs = 1;
    std::int64_t started_s = 0;  // since 1970, as all times here
  };

  State state = State::kRunning;
  StopCause stopped_by;
  Run run;
  Pace pace;
  search::Counts counts;
  std::size_t front = 0;
  std::optional<search::Point> fastest, cheapest;
  std::uint64_t checkpoints = 0;
  std::optional<std::int64_t> last_checkpoint_s;
  std::int64_t updated_s = 0;
  double update_every_s = 0;
};

std::string status_json(const Status& status);

// status.json of a running sweep. Whoever reads it finds a whole file at any instant. A folder that does not
// take it is no reason to stop a sweep: that is said once.
class StatusFile {
 public:
  StatusFile(const std::filesystem::path& folder, double every_s);

  Status& status() { return status_; }  // to fill in before due() or write()
  // Time for another write: every `every_s`, or as seldom as keeps writing below 0.5 % of the time.
  bool is_due() const;
  bool write();  // false: it could not be
  double spent_s() const { return spent_s_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path path_;
  double every_s_;
  Status status_;
  Clock::time_point next_ = Clock::now();
  double spent_s_ = 0;
  bool said_ = false;
};

}  // namespace trainfront::engine
