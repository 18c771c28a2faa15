#pragma once

#include <string>

namespace trainfront::engine {

struct WatchOptions {
  std::string folder = "trainfront-out";
  bool once = false;
  bool finish = false;  // ask the sweep to end with the front so far
  std::string every = "2s";
  bool json = false;
};

// How the sweep that writes into this folder is doing; follows it to its end unless `once` or `json`. Status:
// done while it runs or when it has finished, resumable when it stopped, internal error when it died.
int run_watch(const WatchOptions& options);

}  // namespace trainfront::engine
