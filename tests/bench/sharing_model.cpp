// A model of the engine's sharing (engine/share, engine/team; one thread a rank) for more ranks than SMPI
// simulates here: the same grants, requests, reports and rests as discrete events. tests/bench/simulation
// runs the engine's own code on fewer ranks; docs/performance.md holds the two against each other. Usage:
//   sharing_model RANKS BLOCKS_PER_RANK BLOCK_MS [FAN_OUT [MESSAGE_US REPORT_US LATENCY_US]]
// Block times are spread over a factor of ten (log-uniform, BLOCK_MS in the mean). A rank looks at its
// messages between two pieces, and spends MESSAGE_US on a request or a grant, REPORT_US on a report. Left
// out: passing on incumbents, which takes at most 1 % of a rank's time, and the start of MPI.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <random>
#include <vector>

#include "engine/share.hpp"

namespace {

using trainfront::engine::parent_of;
using trainfront::engine::ranks_below;

constexpr std::uint64_t kShareDivisor = 3;  // as in engine/share.cpp
constexpr std::uint64_t kBlocksAhead = 3;
constexpr double kFirstReport_s = 0.05;
constexpr double kReportEvery_s = 1;
constexpr double kShortPiece_s = 1e-3;  // as in engine/team.cpp
constexpr double kLongPiece_s = 4e-3;
constexpr double kLongestNap_s = 1e-3;

struct Costs {
  double message_s = 10e-6;
  double report_s = 100e-6;
  double latency_s = 10e-6;
};

enum class Kind : std::uint8_t { kRequest, kGrant, kReport };

struct Mail {
  double arrives_s;
  std::uint64_t blocks;  // of a grant
  int from;
  Kind kind;
  bool last;  // of a report
};

struct Rank {
  int parent = -1;
  int below = 1;  // this one included
  int children = 0, finished_children = 0;
  std::uint64_t pool = 0, waiting = 0, in_hand = 0, piece = 1;
  bool dry = false, asked = false, done = false;
  double report_at_s = kFirstReport_s, report_after_s = kFirstReport_s;
  double worked_s = 0, handling_s = 0;
  std::vector<Mail> inbox;
  std::vector<int> asking;
  double wakes_s = 0;
  std::uint64_t alarm = 0;  // the last one set is the one that counts
};

struct Alarm {
  double at_s;
  int rank;
  std::uint64_t number;
  bool operator>(const Alarm& other) const { return at_s > other.at_s; }
};

class Model {
 public:
  Model(int ranks, std::uint64_t blocks, double block_s, int fan_out, const Costs& costs)
      : costs_(costs), least_block_s_(block_s / (9 / std::log(10))), ranks_(static_cast<std::size_t>(ranks)) {
    for (int i = 0; i < ranks; ++i) {
      Rank& rank = at(i);
      rank.parent = parent_of(i, fan_out);
      rank.below = ranks_below(i, ranks, fan_out);
      if (rank.parent >= 0) ++at(rank.parent).children;
    }
    at(0).pool = blocks;
    at(0).dry = true;
    for (int i = 0; i < ranks; ++i) wake(i, 0);
  }

  // Seconds until all have finished.
  double run() {
    double now = 0;
    while (!alarms_.empty()) {
      const Alarm alarm = alarms_.top();
      alarms_.pop();
      if (at(alarm.rank).alarm != alarm.number || at(alarm.rank).done) continue;
      now = alarm.at_s;
      step(alarm.rank, now);
    }
    return now;
  }

  double worked_s() const {
    double sum = 0;
    for (const Rank& rank : ranks_) sum += rank.worked_s;
    return sum;
  }
  std::uint64_t messages() const { return messages_; }
  double root_handling_s() const { return ranks_.front().handling_s; }
  bool all_done() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.done; });
  }

 private:
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void wake(int rank, double at_s) {
    at(rank).wakes_s = at_s;
    alarms_.push({at_s, rank, ++at(rank).alarm});
  }

  void send(int from, int to, double now, Kind kind, std::uint64_t blocks, bool last) {
    ++messages_;
    const double arrives_s = now + costs_.latency_s;
    Rank& rank = at(to);
    rank.inbox.push_back({arrives_s, blocks, from, kind, last});
    // A rank that rests sees it at the end of its nap.
    if (rank.in_hand == 0 && rank.wakes_s > arrives_s + kLongestNap_s) wake(to, arrives_s + kLongestNap_s);
  }

  // Between two pieces: what Team::run and Share::tend do.
  void step(int number, double now) {
    Rank& rank = at(number);
    rank.in_hand = 0;
    const double begun_s = now;
    now = read(rank, now);
    feed(number, now);
    now = answer(number, now);
    const bool finished = rank.dry && !rank.asked && rank.pool == 0 && rank.waiting == 0 &&
                          rank.finished_children == rank.children;
    if (finished || now >= rank.report_at_s) {
      now += costs_.report_s;
      if (rank.parent >= 0) send(number, rank.parent, now, Kind::kReport, 0, finished);
      rank.report_after_s = std::min(2 * rank.report_after_s, kReportEvery_s);
      rank.report_at_s = now + rank.report_after_s;
    }
    rank.handling_s += now - begun_s;
    rank.done = finished;
    if (finished) return;
    if (rank.waiting == 0) return wake(number, next_look(rank, now));
    const double length_s = take_piece(rank);
    rank.worked_s += length_s;
    wake(number, now + length_s);
  }

  double read(Rank& rank, double now) {
    std::vector<Mail> later;
    for (const Mail& mail : rank.inbox) {
      if (mail.arrives_s > now) {
        later.push_back(mail);
        continue;
      }
      now += mail.kind == Kind::kReport ? costs_.report_s : costs_.message_s;
      if (mail.kind == Kind::kRequest) rank.asking.push_back(mail.from);
      if (mail.kind == Kind::kReport && mail.last) ++rank.finished_children;
      if (mail.kind == Kind::kGrant) {
        rank.asked = false;
        rank.dry = rank.dry || mail.blocks == 0;
        rank.pool += mail.blocks;
      }
    }
    rank.inbox = std::move(later);
    return now;
  }

  void feed(int number, double now) {
    Rank& rank = at(number);
    if (rank.waiting < 2 && rank.pool > 0) rank.waiting += grant(rank, 1);
    const bool short_of_work = rank.children == 0
                                   ? rank.waiting < 2
                                   : rank.pool < kBlocksAhead * static_cast<std::uint64_t>(rank.below);
    if (!short_of_work || rank.dry || rank.asked) return;
    send(number, rank.parent, now, Kind::kRequest, 0, false);
    rank.asked = true;
  }

  double answer(int number, double now) {
    Rank& rank = at(number);
    std::vector<int> unanswered;
    for (const int child : rank.asking) {
      if (rank.pool == 0 && !rank.dry) {
        unanswered.push_back(child);
        continue;
      }
      now += costs_.message_s;
      send(number, child, now, Kind::kGrant, grant(rank, at(child).below), false);
    }
    rank.asking = std::move(unanswered);
    return now;
  }

  static std::uint64_t grant(Rank& rank, int ranks) {
    const auto part = static_cast<std::uint64_t>(ranks);
    const std::uint64_t whole = kShareDivisor * static_cast<std::uint64_t>(rank.below);
    const std::uint64_t fair = rank.pool / whole * part + rank.pool % whole * part / whole;
    const std::uint64_t blocks = std::min(rank.pool, std::max<std::uint64_t>(1, fair));
    rank.pool -= blocks;
    return blocks;
  }

  // When a rank without work looks again if nobody wakes it: for what is under way to it, or to report.
  static double next_look(const Rank& rank, double now) {
    double look_s = std::max(rank.report_at_s, now + kLongestNap_s);
    for (const Mail& mail : rank.inbox) look_s = std::min(look_s, mail.arrives_s + kLongestNap_s);
    return std::max(look_s, now);
  }

  double take_piece(Rank& rank) {
    const std::uint64_t blocks = std::max<std::uint64_t>(1, std::min(rank.piece, rank.waiting / 2));
    rank.waiting -= blocks;
    rank.in_hand = blocks;
    double length_s = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) length_s += least_block_s_ * std::pow(10, uniform_(random_));
    if (length_s < kShortPiece_s) rank.piece *= 2;
    if (length_s > kLongPiece_s) rank.piece = std::max<std::uint64_t>(rank.piece / 2, 1);
    return length_s;
  }

  Costs costs_;
  double least_block_s_;
  std::vector<Rank> ranks_;
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms_;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::uint64_t messages_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs(
        "usage: sharing_model RANKS BLOCKS_PER_RANK BLOCK_MS [FAN_OUT [MESSAGE_US REPORT_US LATENCY_US]]\n",
        stderr);
    return 2;
  }
  const int ranks = std::atoi(argv[1]);
  const auto blocks = static_cast<std::uint64_t>(std::atoll(argv[2])) * static_cast<std::uint64_t>(ranks);
  const double block_ms = std::atof(argv[3]);
  const int fan_out = argc > 4 ? std::atoi(argv[4]) : 64;
  Costs costs;
  if (argc > 7) costs = {std::atof(argv[5]) * 1e-6, std::atof(argv[6]) * 1e-6, std::atof(argv[7]) * 1e-6};
  if (ranks < 1 || blocks < 1 || block_ms <= 0 || fan_out < 2) return 2;

  Model model(ranks, blocks, block_ms * 1e-3, fan_out, costs);
  const double elapsed_s = model.run();
  std::printf(
      "%d ranks, fan-out %d, %.0f blocks a rank of %g ms: %.2f s, efficiency %.4f, %.1f messages a rank, "
      "root "
      "busy with messages %.1f %% of the time\n",
      ranks, fan_out, static_cast<double>(blocks) / ranks, block_ms, elapsed_s,
      model.worked_s() / (elapsed_s * ranks), static_cast<double>(model.messages()) / ranks,
      100 * model.root_handling_s() / elapsed_s);
  if (!model.all_done()) std::puts("NOT ALL RANKS FINISHED");
  return model.all_done() ? 0 : 1;
}
