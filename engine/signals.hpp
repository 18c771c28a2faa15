#pragma once

namespace trainfront::engine {

// From the first on SIGTERM, SIGINT and SIGUSR1 (Slurm's warning before the time limit) ask for a stop
// instead of ending the process, and go on doing so after the last: what comes when the answer stands must
// not turn its exit status into another. A second SIGINT ends the process at once. May be nested: the
// outermost counts.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that came, or 0.
  int raised() const;
};

}  // namespace trainfront::engine
