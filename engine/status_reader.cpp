#include "engine/status_reader.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/process.hpp"
#include "engine/reports/readable.hpp"
#include "engine/status.hpp"
#include "engine/wall_clock.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/document.hpp"

namespace trainfront::engine {
namespace {

constexpr double kSilence_s = 60;
constexpr double kSilentIntervals = 10;

// The members of one table of the file; one that is missing or of another kind makes the file no status file.
class Fields {
 public:
  Fields(const inputs::Value& table, std::string file) : table_(table), file_(std::move(file)) {}

  std::string text(const char* key) const { return get(key, inputs::Value::Kind::kText).text; }
  std::int64_t integer(const char* key) const { return get(key, inputs::Value::Kind::kInteger).integer; }
  double real(const char* key) const {
    const inputs::Value* value = table_.find(key);
    if (value == nullptr || !value->is_number()) refuse(key);
    return value->real;
  }
  double real_or(const char* key, double none) const { return is_null(key) ? none : real(key); }
  std::string text_or_empty(const char* key) const { return is_null(key) ? std::string() : text(key); }
  std::int64_t time(const char* key) const {
    const std::optional<std::int64_t> seconds = parse_utc(text(key));
    if (!seconds) refuse(key);
    return *seconds;
  }
  bool is_null(const char* key) const {
    const inputs::Value* value = table_.find(key);
    if (value == nullptr) refuse(key);
    return value->kind == inputs::Value::Kind::kNull;
  }
  Observed::Plan plan(const char* key) const {
    if (is_null(key)) return {};
    const Fields point(get(key, inputs::Value::Kind::kTable), file_);
    return {point.text("id"), point.real("time_to_train_s"), point.real("cost_usd")};
  }

 private:
  const inputs::Value& get(const char* key, inputs::Value::Kind kind) const {
    const inputs::Value* value = table_.find(key);
    if (value == nullptr || value->kind != kind) refuse(key);
    return *value;
  }
  [[noreturn]] void refuse(const char* key) const {
    throw UsageError(fmt::format("{} is no status file of trainfront: its {} is missing or odd", file_, key));
  }

  const inputs::Value& table_;
  std::string file_;
};

// Why the sweep that was running cannot be any more; empty if it may be.
std::string death(const Observed& seen, std::int64_t process_started, double every_s,
                  const std::string& this_host) {
  if (seen.host == this_host) {
    const ProcessId found = process_with(seen.pid);
    if (found == ProcessId{seen.pid, process_started}) return {};
    return fmt::format("process {} on {} is gone", seen.pid, seen.host);
  }
  if (seen.age_s < std::max(kSilence_s, kSilentIntervals * every_s)) return {};
  return fmt::format("{} has been silent for {}", seen.host, readable_duration(seen.age_s));
}

Observed::State parse_state(const std::string& word, const std::string& file) {
  if (word == "running") return Observed::State::kRunning;
  if (word == "stopped") return Observed::State::kStopped;
  if (word == "finished") return Observed::State::kFinished;
  throw UsageError(fmt::format("{}: state {} found; running, stopped or finished are known", file,
                               inputs::in_quotes(word)));
}

std::string plan_words(const Observed::Plan& plan) {
  return fmt::format("{} for {} (plan {})", readable_duration(plan.time_s), readable_money(plan.cost_usd),
                     plan.id);
}

std::string state_words(const Observed& seen) {
  switch (seen.state) {
    case Observed::State::kRunning:
      return fmt::format("running for {}", readable_duration(seen.running_s + seen.age_s));
    case Observed::State::kStopped:
      return fmt::format("stopped ({}) after {}, resumable", seen.stopped_by,
                         readable_duration(seen.running_s));
    case Observed::State::kFinished:
      return fmt::format("finished after {}", readable_duration(seen.running_s));
    case Observed::State::kDead:
      return fmt::format("dead: {}; resumable", seen.dead_because);
  }
  return {};
}

}  // namespace

Observed observe(const std::filesystem::path& folder, std::int64_t now_s, const std::string& this_host) {
  const std::filesystem::path path = folder / kStatusName;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw UsageError(
        fmt::format("no sweep has written into {} (it has no {})", folder.string(), kStatusName));
  }
  Observed seen;
  seen.text = read_file(path);
  inputs::Diagnostics faults;
  const inputs::Document document = inputs::parse_json(seen.text, path.string(), faults);
  if (document.damaged || document.root.kind != inputs::Value::Kind::kTable) {
    throw UsageError(fmt::format("{} is no status file of trainfront", path.string()));
  }
  const Fields fields(document.root, path.string());
  seen.state = parse_state(fields.text("state"), path.string());
  seen.stopped_by = fields.text_or_empty("stopped_by");
  seen.host = fields.text("host");
  seen.pid = fields.integer("pid");
  const std::int64_t updated_s = fields.time("updated");
  seen.age_s = static_cast<double>(std::max<std::int64_t>(0, now_s - updated_s));
  seen.running_s = static_cast<double>(updated_s - fields.time("started"));
  seen.ranks = fields.integer("ranks");
  seen.threads = fields.integer("threads_per_rank");
  seen.runs = fields.integer("runs");
  seen.front = fields.integer("front");
  seen.plans = fields.real("plans");
  seen.illegal_everywhere = fields.real("illegal_everywhere");
  seen.covered_share = fields.real("covered_share");
  seen.evaluated = fields.real("evaluated");
  seen.pruned = fields.real("pruned");
  seen.plans_per_s = fields.real("plans_per_s");
  seen.to_go_s = fields.real_or("to_go_s", -1);
  seen.checkpoints = fields.integer("checkpoints");
  if (!fields.is_null("last_checkpoint")) {
    seen.checkpoint_age_s =
        static_cast<double>(std::max<std::int64_t>(0, now_s - fields.time("last_checkpoint")));
  }
  seen.fastest = fields.plan("fastest");
  seen.cheapest = fields.plan("cheapest");
  if (seen.state != Observed::State::kRunning) return seen;
  seen.dead_because =
      death(seen, fields.integer("process_started"), fields.real("update_every_s"), this_host);
  if (!seen.dead_because.empty()) seen.state = Observed::State::kDead;
  return seen;
}

std::string observed_text(const Observed& seen, const std::filesystem::path& folder) {
  std::string text =
      fmt::format("{}: {}; {} x {} threads, process {} on {}, run {}\n", folder.string(), state_words(seen),
                  seen.ranks == 1 ? "1 rank" : fmt::format("{} ranks", seen.ranks), seen.threads, seen.pid,
                  seen.host, seen.runs);
  text += fmt::format("  {:.1f} % of {} plans covered, {} evaluated, {} pruned, {}/s",
                      100 * seen.covered_share, readable_count(seen.plans), readable_count(seen.evaluated),
                      readable_count(seen.pruned), readable_count(seen.plans_per_s));
  if (seen.state == Observed::State::kRunning && seen.to_go_s >= 0)
    text += fmt::format(", {} to go", readable_duration(std::max(0.0, seen.to_go_s - seen.age_s)));
  if (seen.illegal_everywhere > 0)
    text += fmt::format("\n  {} more are illegal everywhere", readable_count(seen.illegal_everywhere));
  text += fmt::format("\n  front {}", seen.front);
  if (!seen.fastest.id.empty()) {
    text += fmt::format(": fastest {}, cheapest {}", plan_words(seen.fastest), plan_words(seen.cheapest));
  }
  text += seen.checkpoint_age_s >= 0 ? fmt::format("\n  last checkpoint {} ago (of {})",
                                                   readable_duration(seen.checkpoint_age_s), seen.checkpoints)
                                     : std::string("\n  no checkpoint yet");
  return text + fmt::format("; news {} old\n", readable_duration(seen.age_s));
}

}  // namespace trainfront::engine
