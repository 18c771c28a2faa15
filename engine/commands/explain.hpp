#pragma once

#include <string>

#include "engine/transport.hpp"

namespace trainfront::engine {

struct ExplainOptions {
  std::string file;
  std::string plan;    // id of a plan of the sweep
  std::string layout;  // or what the plan must be: "tp=8,pp=4,dp=16"; neither: the plan that answers the goal
  std::string trace;   // write the step as a trace for Perfetto or chrome://tracing
  std::string deadline, budget, probability;
  int threads = 0;
  bool json = false;
};

// One plan in depth: where the step's time, the memory, the run's time and the dollars go, and what would
// help.
int run_explain(const ExplainOptions& options, World& world);

}  // namespace trainfront::engine
