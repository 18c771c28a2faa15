#include "engine/status.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/terminal.hpp"
#include "engine/wall_clock.hpp"

namespace trainfront::engine {
namespace {

constexpr double kMostOfTime = 0.005;

std::string_view name(Status::State state) {
  switch (state) {
    case Status::State::kRunning:
      return "running";
    case Status::State::kStopped:
      return "stopped";
    case Status::State::kFinished:
      return "finished";
  }
  return "";
}

void write_point(std::string_view key, const std::optional<search::Point>& point, JsonWriter& json) {
  if (!point) {
    json.key(key).null();
    return;
  }
  json.begin_object(key).field("id", std::to_string(point->index)).field("time_to_train_s", point->time_s);
  json.field("cost_usd", point->cost_usd).end_object();
}

}  // namespace

std::string status_json(const Status& status) {
  const Status::Run& run = status.run;
  JsonWriter json;
  json.begin_object().field("schema", 1).field("state", name(status.state)).key("stopped_by");
  if (status.state == Status::State::kStopped) {
    json.value(name(status.stopped_by));
  } else {
    json.null();
  }
  json.field("sweep_file", run.sweep_file).field("host", run.host).field("pid", run.process.pid);
  json.field("process_started", run.process.started).field("started", utc_text(run.started_s));
  json.field("updated", utc_text(status.updated_s)).field("update_every_s", status.update_every_s);
  json.field("ranks", run.ranks).field("threads_per_rank", run.threads).field("runs", run.runs);
  json.field("plans", status.pace.plans).field("illegal_everywhere", status.pace.excluded);
  json.field("covered", status.pace.covered);
  json.field("covered_share", status.pace.share).field("evaluated", status.counts.evaluated);
  json.field("pruned", pruned(status.counts)).field("plans_per_s", status.pace.plans_per_s);
  json.key("to_go_s");
  if (status.pace.to_go_s) {
    json.value(*status.pace.to_go_s);
  } else {
    json.null();
  }
  json.field("front", status.front);
  write_point("fastest", status.fastest, json);
  write_point("cheapest", status.cheapest, json);
  json.field("checkpoints", status.checkpoints).key("last_checkpoint");
  if (status.last_checkpoint_s) {
    json.value(utc_text(*status.last_checkpoint_s));
  } else {
    json.null();
  }
  return json.end_object().take();
}

StatusFile::StatusFile(const std::filesystem::path& folder, double every_s)
    : path_(folder / kStatusName), every_s_(every_s) {}

bool StatusFile::is_due() const {
  return Clock::now() >= next_;
}

bool StatusFile::write() {
  bool written = true;
  const auto begin = Clock::now();
  status_.updated_s = utc_seconds();
  status_.update_every_s = every_s_;
  try {
    replace_file(path_, status_json(status_));
  } catch (const MachineError& error) {
    if (!said_) say(fmt::format("warning: {}; the sweep goes on", error.what()));
    said_ = true;
    written = false;
  }
  const double took_s = std::chrono::duration<double>(Clock::now() - begin).count();
  spent_s_ += took_s;
  next_ = begin + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(std::max(every_s_, took_s / kMostOfTime)));
  return written;
}

}  // namespace trainfront::engine
