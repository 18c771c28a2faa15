#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/archive.hpp"
#include "engine/block_ranges.hpp"
#include "engine/stop_cause.hpp"
#include "engine/team.hpp"
#include "engine/transport.hpp"

namespace trainfront::engine {

struct ShareOptions {
  double report_every_s = 1;
  // Ranks that one rank looks after. Beyond it a tree of two levels: whole bundles of ranks ask the root at
  // once.
  int fan_out = 64;
};

// One rank's part in sharing the blocks among all. Rank 0 owns the pool; every rank asks the rank above it
// for more before it runs out, hands out to those below, and reports upwards what was found. Pieces shrink as
// the pool does (guided self-scheduling: Polychronopoulos and Kuck, IEEE Trans. Computers C-36, 1987), so
// that all end together.
//
// Lives for one job; `tend` is what Team::run calls.
class Share {
 public:
  // `todo` counts on rank 0 only.
  Share(World& world, Team& team, BlockRanges todo, const ShareOptions& options);

  // Handles what has come in, keeps the team fed, answers those below, reports. False: this rank has
  // finished.
  bool tend();

  // No new work from now on, on all ranks; what is begun is finished, unless that takes long, and reported.
  // May be called on any rank.
  void stop(const StopCause& cause);
  bool stopped() const { return stopped_by_.kind != StopCause::Kind::kNone; }
  const StopCause& stopped_by() const { return stopped_by_; }

  // Rank 0: called with what came in since the last call, about every report_every_s and at the end.
  std::function<void(const Report& news)> on_news;

 private:
  using Clock = std::chrono::steady_clock;
  using Known = std::shared_ptr<const search::Front>;
  struct Child {
    int rank = 0;
    int ranks = 1;  // it and those below it
    Known told;     // the incumbent it was last told
    bool asking = false;
    bool finished = false;
  };

  bool is_root() const { return world_.rank() == 0; }
  void handle(const Message& message);
  void feed_team();
  void ask_above();
  void answer(Child& child);
  BlockRange grant(int ranks);
  void report(bool last);
  void tell_incumbent();
  bool is_finished() const;
  Child& child(int rank);

  World& world_;
  Team& team_;
  const ShareOptions options_;
  double report_after_s_ = 0;  // grows to report_every_s
  int parent_ = -1;
  int ranks_below_ = 1;  // this one included
  std::vector<Child> children_;

  BlockRanges pool_;  // handed out to nobody yet
  bool dry_ = false;  // nothing more comes from above
  bool asked_ = false;
  StopCause stopped_by_;
  Report news_;  // for above; from below and from the team
  Clock::time_point reported_ = Clock::now();
  double telling_s_ = 0;  // what the last passing on of incumbents took
  Clock::time_point told_at_ = Clock::now();
};

// The rank that `rank` reports to, -1 for rank 0.
int parent_of(int rank, int fan_out);
// The ranks in the tree below it, itself included.
int ranks_below(int rank, int size, int fan_out);

}  // namespace trainfront::engine
