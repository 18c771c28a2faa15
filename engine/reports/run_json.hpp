#pragma once

#include <string>
#include <vector>

#include "engine/job.hpp"

namespace trainfront::engine {

// What the run adds to the input: when, where, how long, how much was evaluated.
struct RunReport {
  std::string status;  // "done", "infeasible", "deadline_missed", "budget_missed", "stopped"
  std::string sweep_file;
  std::string started;  // UTC, ISO 8601
  bool brute_force = false;
  std::vector<std::string> notes;
};

// run.json. The harvest is the job's.
std::string run_json(const RunReport& report, const JobResult& job);

}  // namespace trainfront::engine
