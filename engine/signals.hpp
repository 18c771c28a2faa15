#pragma once

namespace trainfront::engine {

// While it lives, SIGTERM, SIGINT and SIGUSR1 (Slurm's warning before the time limit) ask for a stop instead
// of ending the process. A second SIGINT ends it at once. May be nested: the
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
