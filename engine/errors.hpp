#pragma once

#include <stdexcept>
#include <string>

namespace trainfront::engine {

// What the program leaves with; scripts branch on these.
enum ExitStatus : int {
  kDone = 0,
  kInternalError = 1,    // a bug, a failed rank, or a machine that failed us
  kBadInput = 2,         // usage or input files
  kNothingFeasible = 3,  // or the deadline or budget cannot be met
  kResumable = 75,       // stopped by a signal; a rerun goes on (EX_TEMPFAIL of sysexits.h)
};

// The command line asks for something that cannot be: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file cannot be read or written, or a launcher is set up wrongly: exit status 1.
struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Asked to stop before there is anything to save: exit status 75.
struct StoppedEarly : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace trainfront::engine
