#pragma once

#include <cstdint>

#include "costmodel/evidence.hpp"
#include "faults/cycle.hpp"
#include "faults/failing_unit.hpp"
#include "search/plan.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// What faults::run_time asks of a plan, from scratch.
struct PlanRun {
  faults::StepModel step;
  double steps = 0;
  faults::FailingUnit unit;
  std::int64_t state_copies = -1;  // as in faults::cycle_table
  faults::FailureLaw law;
  faults::CycleTable table;
  faults::Environment environment;
  costmodel::Evidence evidence = costmodel::Evidence::kCalibrated;  // of the step's time
};

// The plan must break no rule.
PlanRun plan_run(const Problem& problem, const Plan& plan);

}  // namespace trainfront::search
