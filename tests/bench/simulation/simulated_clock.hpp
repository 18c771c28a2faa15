#pragma once

// Included before every file of the engine that is built for SimGrid: the standard headers first, then their
// clock by the simulation's. SMPI takes care of sleeping.
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

extern "C" double simgrid_get_clock();

namespace std::chrono {

struct simulated_clock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = chrono::time_point<simulated_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept {
    return time_point(duration_cast<duration>(chrono::duration<double>(simgrid_get_clock())));
  }
};

}  // namespace std::chrono

#define steady_clock simulated_clock

// A simulated rank has one thread, and SMPI promises no more.
#undef MPI_THREAD_FUNNELED
#define MPI_THREAD_FUNNELED MPI_THREAD_SINGLE

// SMPI lacks matched probes. A rank of one thread may as well probe and then receive from the same source.
struct simulated_message {
  int source, tag;
  MPI_Comm comm;
};

inline int simulated_improbe(int source, int tag, MPI_Comm comm, int* found, simulated_message* message,
                             MPI_Status* status) {
  const int result = MPI_Iprobe(source, tag, comm, found, status);
  if (*found) *message = {status->MPI_SOURCE, status->MPI_TAG, comm};
  return result;
}

inline int simulated_imrecv(void* bytes, int count, MPI_Datatype type, simulated_message* message,
                            MPI_Request* request) {
  return MPI_Irecv(bytes, count, type, message->source, message->tag, message->comm, request);
}

#undef MPI_Improbe
#undef MPI_Imrecv
#define MPI_Message simulated_message
#define MPI_Improbe simulated_improbe
#define MPI_Imrecv simulated_imrecv
