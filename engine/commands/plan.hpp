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
  int near_best = 0;     // list so many other plans that are little worse
  double within = 0.05;  // and how much worse, a share
  bool json = false;
};

// Searches the whole space and prints the one plan that answers the goal. Writes no files.
int run_plan(const PlanOptions& options, World& world);

}  // namespace trainfront::engine
