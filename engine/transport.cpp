#include "engine/transport.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#include <thread>
#include <vector>

#include "engine/errors.hpp"

namespace trainfront::engine {
namespace {

// MPI counts in int, and a piece should pass quickly between two polls.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;
// Beyond so many pieces that wait here, those that would send more are left waiting.
constexpr std::size_t kMostIncoming = 256;

// Sleeps longer each time, so that an answer comes within some 10 us when it is quick and waiting costs
// nothing when it is slow.
class Nap {
 public:
  void take() {
    std::this_thread::sleep_for(length_);
    length_ = std::min(length_ * 2, std::chrono::microseconds(1000));
  }

 private:
  std::chrono::microseconds length_{10};
};

// While this lives the signal waits, and afterwards does what it did before. MPICH would take SIGUSR1 for the
// news that a process died, and without mpiexec wait for ever to be told which.
class OwnSignal {
 public:
  explicit OwnSignal(int signal) : signal_(signal) {
    sigset_t alone;
    sigemptyset(&alone);
    sigaddset(&alone, signal);
    pthread_sigmask(SIG_BLOCK, &alone, &mask_);
    sigaction(signal, nullptr, &action_);
  }
  ~OwnSignal() {
    sigaction(signal_, &action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  OwnSignal(const OwnSignal&) = delete;
  OwnSignal& operator=(const OwnSignal&) = delete;

 private:
  int signal_;
  sigset_t mask_{};
  struct sigaction action_ {};
};

// Standard output is for answers, often JSON. While this lives, what MPI's libraries print there goes to
// standard error: UCX complains on standard output where the machine has no /sys/class/net.
class AnswersOnly {
 public:
  AnswersOnly() : kept_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    if (kept_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~AnswersOnly() {
    if (kept_ < 0) return;
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  AnswersOnly(const AnswersOnly&) = delete;
  AnswersOnly& operator=(const AnswersOnly&) = delete;

 private:
  int kept_;
};

void sleep_until_done(MPI_Request* request) {
  int done = 0;
  Nap nap;
  while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done) nap.take();
}

int environment_number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : -1;
}

// mpiexec of MPICH and Slurm's pmi2 set PMI_SIZE and are believed. Without it, more than one task means that
// somebody else's launcher started us as so many strangers, each of which would do the whole job.
void check_launcher(int size) {
  if (size > 1) return;
  const int pmi = environment_number("PMI_SIZE");
  if (pmi == 1) return;
  for (const char* name :
       {"PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const int tasks = environment_number(name);
    if (tasks <= 1) continue;
    throw UsageError(
        fmt::format("the launcher started {0} tasks ({1}={0}), but MPI sees this one alone: each would do "
                    "the whole job by itself.\n"
                    "Under Slurm start it with: srun --mpi=pmi2 trainfront ...\n"
                    "Elsewhere with MPICH's own: mpiexec.mpich -n {0} trainfront ...\n"
                    "For one process on purpose: mpiexec.mpich -n 1 trainfront ..., or unset {1}.",
                    tasks, name));
  }
}

}  // namespace

int launcher_rank() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const int rank = environment_number(name);
    if (rank >= 0) return rank;
  }
  return 0;
}

struct World::Traffic {
  struct Outgoing {
    int to = 0;
    int tag = 0;
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Incoming {
    int from = 0;
    int tag = 0;
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    bool arrived = false;
  };
  // A message whose pieces are being put together.
  struct Partial {
    int from = 0;
    int tag = 0;
    std::uint64_t total = 0;
    std::string bytes;
  };

  MPI_Comm comm = MPI_COMM_NULL;
  std::list<Outgoing> outgoing;
  std::deque<Incoming> incoming;  // in the order in which they were matched
  std::list<Partial> partial;
  std::int64_t sent = 0;  // whole messages
  std::int64_t received = 0;

  void post(int to, int tag, std::string bytes) {
    Outgoing& piece = outgoing.emplace_back();
    piece.to = to;
    piece.tag = tag;
    piece.bytes = std::move(bytes);
    // Synchronous: it is under way until the receiver has taken it, so that a sender can tell when it is too
    // fast.
    MPI_Issend(piece.bytes.data(), static_cast<int>(piece.bytes.size()), MPI_BYTE, to, tag, comm,
               &piece.request);
  }

  void move() {
    outgoing.remove_if([](Outgoing& piece) {
      int done = 0;
      MPI_Test(&piece.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    while (incoming.size() < kMostIncoming) {
      int found = 0;
      MPI_Message message;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &message, &status);
      if (!found) break;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Incoming& piece = incoming.emplace_back();
      piece.from = status.MPI_SOURCE;
      piece.tag = status.MPI_TAG;
      piece.bytes.resize(static_cast<std::size_t>(count));
      MPI_Imrecv(piece.bytes.data(), count, MPI_BYTE, &message, &piece.request);
    }
    for (Incoming& piece : incoming) {
      if (piece.arrived) continue;
      int done = 0;
      MPI_Test(&piece.request, &done, MPI_STATUS_IGNORE);
      piece.arrived = done != 0;
    }
  }

  // A piece may only be used when all earlier ones of its sender and tag have been.
  std::optional<Message> deliver() {
    for (auto piece = incoming.begin(); piece != incoming.end();) {
      const bool earlier = std::any_of(incoming.begin(), piece, [&](const Incoming& other) {
        return other.from == piece->from && other.tag == piece->tag;
      });
      if (!piece->arrived || earlier) {
        ++piece;
        continue;
      }
      std::optional<Message> whole = assemble(*piece);
      piece = incoming.erase(piece);
      if (whole) return whole;
    }
    return std::nullopt;
  }

  std::optional<Message> assemble(const Incoming& piece) {
    auto begun = std::find_if(partial.begin(), partial.end(), [&](const Partial& other) {
      return other.from == piece.from && other.tag == piece.tag;
    });
    if (begun == partial.end()) {
      begun = partial.insert(partial.end(), Partial{piece.from, piece.tag, 0, {}});
      std::memcpy(&begun->total, piece.bytes.data(), sizeof begun->total);
      begun->bytes.assign(piece.bytes, sizeof begun->total);
    } else {
      begun->bytes += piece.bytes;
    }
    if (begun->bytes.size() < begun->total) return std::nullopt;
    Message whole{begun->from, static_cast<Tag>(begun->tag), std::move(begun->bytes)};
    partial.erase(begun);
    return whole;
  }
};

World::World() : traffic_(std::make_unique<Traffic>()) {
  const AnswersOnly quiet;
  int provided = 0;
  {
    const OwnSignal kept(SIGUSR1);
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &traffic_->comm);
  MPI_Comm_rank(traffic_->comm, &rank_);
  MPI_Comm_size(traffic_->comm, &size_);
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  host_ = name.data();
  try {
    if (provided < MPI_THREAD_FUNNELED) throw MachineError("this MPI does not allow threads beside it");
    check_launcher(size_);
  } catch (...) {
    MPI_Finalize();
    throw;
  }
  meet();
}

World::~World() {
  settle();
  MPI_Comm_free(&traffic_->comm);
  MPI_Finalize();
}

// Who is where, and on which cores.
void World::meet() {
  struct Presence {
    std::array<char, 64> host{};
    cpu_set_t cores;
  };
  Presence mine;
  host_.copy(mine.host.data(), mine.host.size() - 1);
  CPU_ZERO(&mine.cores);
  ::sched_getaffinity(0, sizeof mine.cores, &mine.cores);
  std::vector<Presence> all(static_cast<std::size_t>(size_));
  MPI_Request request;
  MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, traffic_->comm, &request);
  sleep_until_done(&request);

  int neighbours = 0;
  bool same_cores = true;
  for (const Presence& other : all) {
    hosts_.emplace_back(other.host.data());
    if (other.host != mine.host) continue;
    ++neighbours;
    same_cores = same_cores && CPU_EQUAL(&other.cores, &mine.cores) != 0;
  }
  std::sort(hosts_.begin(), hosts_.end());
  hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
  // Launchers that pin give every rank cores of its own; others give all ranks the same.
  fair_threads_ = std::max(1, CPU_COUNT(&mine.cores) / (same_cores ? neighbours : 1));
  for (const char* name : {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"}) {
    const int wanted = environment_number(name);
    if (wanted > 0) fair_threads_ = std::min(wanted, kMostThreads);
  }
}

void World::settle() {
  for (std::int64_t missing = 1; missing != 0;) {
    const std::int64_t mine = traffic_->sent - traffic_->received;
    MPI_Request request;
    MPI_Iallreduce(&mine, &missing, 1, MPI_INT64_T, MPI_SUM, traffic_->comm, &request);
    int done = 0;
    for (Nap nap; !done;) {
      while (poll()) {
      }
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done) nap.take();
    }
  }
  for (Nap nap; !traffic_->outgoing.empty(); nap.take()) traffic_->move();
}

void World::send(int to, Tag tag, const std::string& bytes) {
  ++traffic_->sent;
  const std::uint64_t total = bytes.size();
  std::string first(sizeof total, '\0');
  std::memcpy(first.data(), &total, sizeof total);
  std::size_t at = std::min(bytes.size(), kPieceBytes);
  first.append(bytes, 0, at);
  traffic_->post(to, static_cast<int>(tag), std::move(first));
  for (; at < bytes.size(); at += kPieceBytes) {
    traffic_->post(to, static_cast<int>(tag), bytes.substr(at, kPieceBytes));
  }
}

bool World::is_under_way(int to, Tag tag) const {
  return std::any_of(
      traffic_->outgoing.begin(), traffic_->outgoing.end(),
      [&](const Traffic::Outgoing& piece) { return piece.to == to && piece.tag == static_cast<int>(tag); });
}

std::int64_t World::sent() const {
  return traffic_->sent;
}

std::optional<Message> World::poll() {
  traffic_->move();
  std::optional<Message> message = traffic_->deliver();
  if (message) ++traffic_->received;
  return message;
}

std::optional<Message> World::wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Nap nap;
  for (;;) {
    if (std::optional<Message> message = poll()) return message;
    if (Clock::now() >= end) return std::nullopt;
    nap.take();
  }
}

void World::barrier() {
  MPI_Request request;
  MPI_Ibarrier(traffic_->comm, &request);
  sleep_until_done(&request);
}

std::string World::broadcast(std::string bytes, int root) {
  std::uint64_t total = bytes.size();
  MPI_Request request;
  MPI_Ibcast(&total, 1, MPI_UINT64_T, root, traffic_->comm, &request);
  sleep_until_done(&request);
  bytes.resize(total);
  for (std::size_t at = 0; at < total; at += kPieceBytes) {
    const auto count = static_cast<int>(std::min<std::size_t>(kPieceBytes, total - at));
    MPI_Ibcast(bytes.data() + at, count, MPI_BYTE, root, traffic_->comm, &request);
    sleep_until_done(&request);
  }
  return bytes;
}

std::int64_t World::lowest(std::int64_t value) {
  std::int64_t result = 0;
  MPI_Request request;
  MPI_Iallreduce(&value, &result, 1, MPI_INT64_T, MPI_MIN, traffic_->comm, &request);
  sleep_until_done(&request);
  return result;
}

void World::agree(const std::exception_ptr& thrown) {
  constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = lowest(thrown ? rank_ : kNobody);
  if (first == kNobody) return;
  Failure failure;
  if (first == rank_) failure = describe(thrown);
  const int root = static_cast<int>(first);
  failure.status = std::atoi(broadcast(std::to_string(failure.status), root).c_str());
  failure.text = broadcast(failure.text, root);
  throw SharedFailure(failure);
}

void World::abort(int status) {
  std::fflush(nullptr);
  // The launcher drops what it has not yet passed on when it is told to abort: why, above all.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace trainfront::engine
