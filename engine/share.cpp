#include "engine/share.hpp"

#include <algorithm>
#include <cstring>

namespace trainfront::engine {
namespace {

// A grant is this part of an even share of what is left: enough for the unevenness of blocks, whose cost
// varies by a factor of ten.
constexpr std::uint64_t kShareDivisor = 3;
// A bundle of ranks asks for more while it has so many blocks for each: an answer comes between two pieces of
// whoever gives it, after as long as most blocks take.
constexpr std::uint64_t kBlocksAhead = 3;
constexpr double kFirstReport_s = 0.05;
// Passing on incumbents takes no more of a rank's time than this.
constexpr double kTellingShare = 0.01;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

// Small plain values travel as they are: all ranks run the same program.
template <typename Plain>
std::string pack_plain(const Plain& value) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename Plain>
Plain unpack_plain(const std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  Plain value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Points of `now` that `before` lacks; both ascend in time.
search::Front new_points(const search::Front& now, const search::Front& before) {
  search::Front fresh;
  auto old = before.points().begin();
  for (const search::Point& point : now.points()) {
    while (old != before.points().end() && old->time_s < point.time_s) ++old;
    if (old == before.points().end() || *old != point) fresh.add(point);
  }
  return fresh;
}

}  // namespace

int parent_of(int rank, int fan_out) {
  if (rank == 0) return -1;
  return rank % fan_out == 0 ? 0 : rank - rank % fan_out;
}

int ranks_below(int rank, int size, int fan_out) {
  if (rank == 0) return size;
  return rank % fan_out == 0 ? std::min(fan_out, size - rank) : 1;
}

Share::Share(World& world, Team& team, BlockRanges todo, const ShareOptions& options)
    : world_(world),
      team_(team),
      options_(options),
      report_after_s_(std::min(kFirstReport_s, options.report_every_s)),
      parent_(parent_of(world.rank(), options.fan_out)),
      ranks_below_(ranks_below(world.rank(), world.size(), options.fan_out)) {
  const Known nothing = std::make_shared<const search::Front>();
  for (int rank = 1; rank < world.size(); ++rank) {
    if (parent_of(rank, options_.fan_out) != world.rank()) continue;
    children_.push_back({rank, ranks_below(rank, world.size(), options_.fan_out), nothing});
  }
  if (is_root()) {
    pool_ = std::move(todo);
    dry_ = true;
  }
}

bool Share::tend() {
  // No more than one from each around it at a time: those who send fast must not keep it from its own work.
  for (std::size_t i = 0; i < children_.size() + 1; ++i) {
    const std::optional<Message> message = world_.poll();
    if (!message) break;
    handle(*message);
  }
  feed_team();
  for (Child& below : children_) {
    if (below.asking) answer(below);
  }
  if (is_finished()) {
    report(true);
    return false;
  }
  if (seconds_since(reported_) >= report_after_s_ &&
      (is_root() || !world_.is_under_way(parent_, Tag::kReport)))
    report(false);
  return true;
}

void Share::stop(const StopCause& cause) {
  if (stopped()) return;
  stopped_by_ = cause;
  if (!is_root()) world_.send(parent_, Tag::kStop, pack_plain(cause));
  for (const Child& below : children_) {
    if (!below.finished) world_.send(below.rank, Tag::kStop, pack_plain(cause));
  }
  team_.drop_work();
  pool_.clear();
  dry_ = true;
}

void Share::handle(const Message& message) {
  switch (message.tag) {
    case Tag::kRequest:
      child(message.from).asking = true;
      break;
    case Tag::kGrant: {
      const BlockRange range = unpack_plain<BlockRange>(message.bytes);
      asked_ = false;
      if (range.count() == 0) dry_ = true;
      if (!stopped()) pool_.add(range);
      break;
    }
    case Tag::kReport: {
      const Report report = unpack_report(message.bytes);
      news_.merge(report);
      if (report.last) child(message.from).finished = true;
      break;
    }
    case Tag::kIncumbent:
      team_.inform(unpack_front(message.bytes));
      break;
    case Tag::kStop:
      stop(unpack_plain<StopCause>(message.bytes));
      break;
    case Tag::kTest:
      break;
  }
}

// Asks before the work runs out: one request is under way while the rest of the last grant is done.
void Share::feed_team() {
  const auto threads = static_cast<std::uint64_t>(team_.threads());
  if (team_.waiting() < 2 * threads && !pool_.empty()) team_.add_work(grant(1));
  if (children_.empty() ? team_.waiting() < 2 * threads
                        : pool_.count() < kBlocksAhead * static_cast<std::uint64_t>(ranks_below_)) {
    ask_above();
  }
}

void Share::ask_above() {
  if (dry_ || asked_) return;
  world_.send(parent_, Tag::kRequest, {});
  asked_ = true;
}

void Share::answer(Child& below) {
  if (pool_.empty() && !dry_) return;  // it waits until there is more
  world_.send(below.rank, Tag::kGrant, pack_plain(grant(below.ranks)));
  below.asking = false;
}

BlockRange Share::grant(int ranks) {
  const auto part = static_cast<std::uint64_t>(ranks);
  const std::uint64_t whole = kShareDivisor * static_cast<std::uint64_t>(ranks_below_);
  const std::uint64_t left = pool_.count();
  // left * part / whole: near the end a bundle of ranks still gets a block for each of them.
  return pool_.take(std::max<std::uint64_t>(1, left / whole * part + left % whole * part / whole));
}

void Share::report(bool last) {
  if (!news_.harvest.front.empty()) team_.inform(news_.harvest.front);  // found below
  news_.merge(team_.collect());
  news_.last = last;
  if (!is_root()) {
    world_.send(parent_, Tag::kReport, pack(news_));
  } else if (on_news) {
    on_news(news_);
  }
  news_ = {};
  reported_ = Clock::now();
  // Good points help most early on.
  report_after_s_ = std::min(2 * report_after_s_, options_.report_every_s);
  if (!last) tell_incumbent();
}

void Share::tell_incumbent() {
  if (children_.empty() || seconds_since(told_at_) < telling_s_ / kTellingShare) return;
  const auto begin = Clock::now();
  const Known known = team_.incumbent();
  Known told;  // most were told the same the last time
  std::string news;
  for (Child& below : children_) {
    if (below.finished || world_.is_under_way(below.rank, Tag::kIncumbent)) continue;
    if (below.told != told) {
      told = below.told;
      const search::Front fresh = new_points(*known, *told);
      news = fresh.empty() ? std::string() : pack(fresh);
    }
    if (!news.empty()) world_.send(below.rank, Tag::kIncumbent, news);
    below.told = known;
  }
  telling_s_ = seconds_since(begin);
  told_at_ = Clock::now();
}

bool Share::is_finished() const {
  const bool below_finished =
      std::all_of(children_.begin(), children_.end(), [](const Child& below) { return below.finished; });
  return dry_ && !asked_ && pool_.empty() && below_finished && team_.idle();
}

Share::Child& Share::child(int rank) {
  return *std::find_if(children_.begin(), children_.end(),
                       [&](const Child& below) { return below.rank == rank; });
}

}  // namespace trainfront::engine
