#include "engine/sweep_report.hpp"

#include <fmt/core.h>

#include "engine/atomic_file.hpp"
#include "engine/checkpoint.hpp"
#include "engine/errors.hpp"
#include "engine/reports/front_files.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/reports/html.hpp"
#include "engine/reports/readable.hpp"
#include "engine/terminal.hpp"

namespace trainfront::engine {
namespace {

constexpr std::size_t kRowsOnTerminal = 30;

}  // namespace

SweepReport::SweepReport(std::filesystem::path folder, const LoadedSweep& sweep, const search::Goal& goal,
                         const JobResult& job, RunReport run)
    : folder_(std::move(folder)),
      space_(sweep.space),
      job_(job),
      run_(std::move(run)),
      remaining_(job.complete ? std::nullopt : std::optional(remaining_of(space_, job.done))),
      rows_(plan_rows(space_, job.harvest.front)),
      answer_(find_answer(job.harvest.front, goal)),
      failure_(why_no_plan(space_, job.harvest, goal, answer_)) {}

int SweepReport::status() const {
  return partial() ? int{kResumable} : answer_.status();
}

std::filesystem::path SweepReport::place() const {
  return partial() ? folder_ / kPartialFolder : folder_;
}

void SweepReport::write() const {
  if (partial()) {
    make_writable_folder(place());
    return write_all();
  }
  // What a search has found must not be lost with the files that do not fit on a disk.
  try {
    write_all();
  } catch (const MachineError& error) {
    throw MachineError(fmt::format("{}\n{}", error.what(), keep()));
  }
  std::error_code error;  // a checkpoint that stays is read by a rerun, which then has nothing to search
  std::filesystem::remove(folder_ / kCheckpointName, error);
  std::filesystem::remove_all(folder_ / kPartialFolder, error);
}

std::string SweepReport::keep() const {
  const std::string file = (folder_ / kCheckpointName).string();
  try {
    job_.keep();
  } catch (const MachineError& error) {
    return fmt::format("The finished search could not be kept either ({}).", error.what());
  }
  return fmt::format("The finished search is kept in {}: make room and run the same command again.", file);
}

void SweepReport::write_all() const {
  const Remaining* remaining = partial() ? &*remaining_ : nullptr;
  write_files(
      {{place() / "front.csv", front_csv(rows_, partial())},
       {place() / "front.json", front_json(space_, job_.harvest.counts, rows_, remaining)},
       {place() / "report.html", report_html(space_, job_.harvest, rows_, answer_, failure_, remaining)},
       {place() / "run.json", run_json(run_, job_)}});
}

void SweepReport::show(bool as_json) const {
  if (!partial() && !failure_.empty()) say(failure_);
  if (as_json) return print(json());
  show_plans();
}

void SweepReport::show_plans() const {
  const std::optional<std::uint64_t> marked =
      answer_.plan ? std::optional<std::uint64_t>(answer_.plan->index) : std::nullopt;
  if (!rows_.empty()) print(front_text(rows_, marked, kRowsOnTerminal) + "\n");
  if (marked) {
    print(fmt::format("* {}{}:\n{}\n", answer_.criterion, partial() ? " of the plans looked at" : "",
                      plan_text(space_, plan_row(space_, *marked))));
  }
}

std::string SweepReport::json() const {
  JsonWriter json;
  json.begin_object();
  if (partial()) {
    json.field("status", "stopped").field("stopped_by", name(job_.stopped_by));
    write_remaining(space_, *remaining_, json);
    json.field("covered", job_.harvest.counts.plans);
    if (answer_.plan) {
      json.field("criterion", answer_.criterion).begin_object("answer");
      write_row(plan_row(space_, answer_.plan->index), json);
      json.end_object();
    }
  } else {
    write_answer(space_, job_.harvest, answer_, json);
  }
  json.begin_object("counts");
  write_counts(job_.harvest.counts, rows_.size(), json);
  json.end_object().field("folder", place().string()).begin_array("front");
  for (const PlanRow& row : rows_) {
    json.begin_object();
    write_row(row, json);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace trainfront::engine
