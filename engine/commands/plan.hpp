#pragma once

#include <string>

#include "engine/transport.hpp"

namespace trainfront::engine {

struct PlanOptions {
  std::string file;
  int threads = 0;
  bool brute_force = false;
  std::string deadline, budget, probability;
  std::string progress = "auto";
  bool json = false;
};

// Searches the whole space and prints the one plan that answers the goal. Writes no files.
int run_plan(const PlanOptions& options, World& world);

}  // namespace trainfront::engine
