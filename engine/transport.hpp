#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/failure.hpp"

namespace trainfront::engine {

// Of one rank; OpenMP's runtime crashes somewhere beyond.
inline constexpr int kMostThreads = 4096;

// What a message is about.
enum class Tag : int { kRequest = 1, kGrant, kReport, kIncumbent, kStop, kTest };

struct Message {
  int from = 0;
  Tag tag = Tag::kTest;
  std::string bytes;
};

// The processes of this job. The only place that calls MPI; to be used by the thread that made it. Nothing
// here spins: a rank that waits sleeps, so that more ranks than cores do not steal time from those that work.
class World {
 public:
  // Starts MPI. Throws UsageError when the launcher speaks of more processes than MPI sees.
  World();
  // Ends MPI once all ranks have come here, after settle().
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& host() const { return host_; }

  // Starts to send and returns at once; messages of one tag between two ranks arrive in order. Any length:
  // long ones travel in pieces.
  void send(int to, Tag tag, const std::string& bytes);

  // Whether `to` has not yet taken a message of this kind from here. Who sends news over and over waits for
  // it, or a receiver that is slower than all its senders together would never be done.
  bool is_under_way(int to, Tag tag) const;

  std::int64_t sent() const;  // messages so far

  // The next message that has wholly arrived; never waits. Also moves what is being sent, so call it often.
  std::optional<Message> poll();
  // The same, sleeping until there is one or the time is over.
  std::optional<Message> wait(double seconds);

  // Threads that this rank should use: what OMP_NUM_THREADS or SLURM_CPUS_PER_TASK say, else the cores that
  // it may run on, divided among the ranks that share them.
  int fair_threads() const { return fair_threads_; }
  // The machines of this job, each once.
  const std::vector<std::string>& hosts() const { return hosts_; }

  // All ranks have come here.
  void barrier();
  // All ranks have come here and will send no more; what is still under way is received and dropped, so that
  // the next job starts clean.
  void settle();
  // What rank `root` passed, on all ranks.
  std::string broadcast(std::string bytes, int root = 0);
  // The lowest value that a rank passed.
  std::int64_t lowest(std::int64_t value);

  // Runs f on every rank. If it throws on any, all ranks throw SharedFailure with the words of the lowest.
  template <typename F>
  auto together(F&& f) {
    std::exception_ptr thrown;
    std::optional<decltype(f())> result;
    try {
      result.emplace(f());
    } catch (...) {
      thrown = std::current_exception();
    }
    agree(thrown);
    return std::move(*result);
  }

  // Ends all ranks at once.
  [[noreturn]] void abort(int status);

 private:
  struct Traffic;

  void meet();
  void agree(const std::exception_ptr& thrown);

  int rank_ = 0;
  int size_ = 1;
  std::string host_;
  std::vector<std::string> hosts_;
  int fair_threads_ = 1;
  std::unique_ptr<Traffic> traffic_;
};

// This process's rank as the launcher's environment tells it, before MPI is started; 0 without a launcher.
int launcher_rank();

}  // namespace trainfront::engine
