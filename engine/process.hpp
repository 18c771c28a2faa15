#pragma once

#include <cstdint>

namespace trainfront::engine {

// One process of this machine, not to be taken for another that later got its number.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t started = 0;  // clock ticks after the machine's start

  bool operator==(const ProcessId&) const = default;
};

ProcessId this_process();
// Of the process that has this number now; `started` is 0 where there is none.
ProcessId process_with(std::int64_t pid);

}  // namespace trainfront::engine
