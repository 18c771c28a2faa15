#pragma once

#include <string>

#include "engine/transport.hpp"

namespace trainfront::engine {

struct SweepOptions {
  std::string file;
  std::string folder = "trainfront-out";
  bool brute_force = false;
  bool fresh = false;
  int threads = 0;               // per rank; 0: the rank's fair share of the machine
  std::string deadline, budget;  // "30d", "5M"; empty: those of the file
  std::string probability;       // that they must hold with, "0.9"; empty: the file's
  std::string progress = "auto";
  std::string checkpoint_every = "30s";
  std::string time_limit;     // "2h"; empty: none
  bool front_so_far = false;  // of what a former run has saved; search no further
  bool json = false;
};

// Searches the whole space and writes front.csv, front.json, run.json and report.html; where it ends early,
// the same as far as it came, into a folder of its own.
int run_sweep(const SweepOptions& options, World& world);

}  // namespace trainfront::engine
