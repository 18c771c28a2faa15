#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/answer.hpp"
#include "engine/job.hpp"
#include "engine/remaining.hpp"
#include "engine/reports/plan_row.hpp"
#include "engine/reports/run_json.hpp"
#include "engine/sweep_job.hpp"

namespace trainfront::engine {

// Where a sweep that ended early leaves its front: in a folder of its own, so that nobody takes it for the
// whole, and no whole front of before is lost.
inline constexpr const char* kPartialFolder = "partial";

// What rank 0 makes of a search: of a whole one the answer and the files, of one that ended early the same as
// far as it came, marked as partial.
class SweepReport {
 public:
  SweepReport(std::filesystem::path folder, const LoadedSweep& sweep, const search::Goal& goal,
              const JobResult& job, RunReport run);

  int status() const;
  // On the terminal: the front and the answer, or one JSON object.
  void show(bool as_json) const;
  // front.csv, front.json, report.html and run.json. Of a whole search the checkpoint and what was partial
  // go; if the files cannot be written the search is kept in the checkpoint. Throws MachineError.
  void write() const;
  // Where write() writes.
  std::filesystem::path place() const;

 private:
  bool partial() const { return remaining_.has_value(); }
  std::string keep() const;
  void write_all() const;
  std::string json() const;
  void show_plans() const;

  const std::filesystem::path folder_;
  const search::Space& space_;
  const JobResult& job_;
  const RunReport run_;
  const std::optional<Remaining> remaining_;
  const std::vector<PlanRow> rows_;
  const Answer answer_;
  const std::string failure_;
};

}  // namespace trainfront::engine
