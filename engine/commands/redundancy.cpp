#include "engine/commands/redundancy.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/output_place.hpp"
#include "engine/redundancy_setup.hpp"
#include "engine/redundancy_sweep.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/reports/readable.hpp"
#include "engine/reports/redundancy_plot.hpp"
#include "engine/reports/text_table.hpp"
#include "engine/task_progress.hpp"
#include "engine/terminal.hpp"
#include "faults/paper_form.hpp"

namespace trainfront::engine {
namespace {

using faults::RedundancyRow;
using faults::RedundancySimulated;
using faults::RedundancyStudy;
using faults::RedundancyTrial;
using faults::RowKind;

const char* scheme_name(RowKind kind) {
  switch (kind) {
    case RowKind::kCheckpoint:
      return "checkpoint";
    case RowKind::kFamilies:
      return "replication_families";
    case RowKind::kStacked:
      return "replication";
    case RowKind::kSpare:
      return "spare";
    case RowKind::kElastic:
      return "elastic";
  }
  return "";
}

std::vector<RedundancyRow> rows_in_parallel(const RedundancyStudy& study, int threads, const World& world) {
  const std::vector<faults::RowOf> of = faults::rows_of(study);
  std::vector<RedundancyRow> rows(of.size());
  TaskProgress progress("rows", of.size(), world.rank() == 0);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t i = 0; i < of.size(); ++i) {
    rows[i] = faults::redundancy_row(study, of[i]);
    progress.one_more();
  }
  return rows;
}

// Trial t of row j is task j * trials + t; every size-th task is this rank's.
std::vector<RedundancyTrial> own_trials(const RedundancyStudy& study, const std::vector<RedundancyRow>& rows,
                                        std::int64_t trials, int threads, const World& world) {
  const auto tasks = static_cast<std::int64_t>(rows.size()) * trials;
  std::vector<std::int64_t> own;
  for (std::int64_t task = world.rank(); task < tasks; task += world.size()) own.push_back(task);
  std::vector<RedundancyTrial> results(own.size());
  TaskProgress progress("trials", own.size(), world.rank() == 0);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t i = 0; i < own.size(); ++i) {
    results[i] = redundancy_trial(study, rows[static_cast<std::size_t>(own[i] / trials)], own[i] % trials);
    progress.one_more();
  }
  return results;
}

// All trials in the order of the tasks, on rank 0; empty elsewhere.
std::vector<RedundancyTrial> gather(const std::vector<RedundancyTrial>& own, std::size_t tasks,
                                    World& world) {
  const auto size = static_cast<std::size_t>(world.size());
  if (world.rank() != 0) {
    std::string bytes(own.size() * sizeof(RedundancyTrial), '\0');
    if (!own.empty()) std::memcpy(bytes.data(), own.data(), bytes.size());
    world.send(0, Tag::kReport, bytes);
    world.settle();
    return {};
  }
  std::vector<RedundancyTrial> all(tasks);
  for (std::size_t i = 0; i < own.size(); ++i) all[i * size] = own[i];
  for (std::size_t missing = size - 1; missing > 0;) {
    const std::optional<Message> message = world.wait(1.0);
    if (!message || message->tag != Tag::kReport) continue;
    const std::size_t count = message->bytes.size() / sizeof(RedundancyTrial);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&all[i * size + static_cast<std::size_t>(message->from)],
                  message->bytes.data() + i * sizeof(RedundancyTrial), sizeof(RedundancyTrial));
    }
    --missing;
  }
  world.settle();
  return all;
}

void write_row(const RedundancyRow& row, const RedundancySimulated* simulated, std::int64_t steps,
               JsonWriter& json) {
  json.begin_object()
      .field("scheme", scheme_name(row.kind))
      .field("r", row.r)
      .field("failures_paper", row.failures_paper)
      .field("failures", row.failures)
      .field("stacks_paper", row.stacks_paper)
      .field("stacks", row.stacks)
      .field("availability", row.availability)
      .field("time_to_train_ratio", row.time_ratio)
      .field("known", row.is_known());
  if (row.is_known()) {
    json.field("finishes", std::isfinite(row.time_ratio));
  } else {
    json.key("finishes").null();
  }
  json.field("checkpoint_interval_s", row.checkpoint_interval_s)
      .field("checkpoint_every", row.checkpoint_every)
      .field("k_max", row.k_max);
  if (row.deep_every > 0 && row.deep_every < steps) json.field("shared_checkpoint_every", row.deep_every);
  if (simulated == nullptr) {
    json.key("simulated").null();
  } else {
    json.begin_object("simulated")
        .field("failures", simulated->failures.value)
        .field("failures_stderr", simulated->failures.standard_error)
        .field("stacks", simulated->stacks)
        .field("availability", simulated->availability)
        .field("availability_stderr", simulated->availability_error)
        .field("time_to_train_ratio", simulated->time_ratio.value)
        .field("time_to_train_ratio_stderr", simulated->time_ratio.standard_error)
        .end_object();
  }
  json.end_object();
}

std::string to_json(const RedundancyStudy& study, const PlanSystem* planned,
                    const std::vector<RedundancyRow>& rows, const std::vector<RedundancySimulated>& simulated,
                    const std::vector<std::string>& notes) {
  JsonWriter json;
  json.begin_object().field("schema", 1).field("groups", study.system.units).key("optimal_r");
  const std::optional<int> best = optimal_redundancy(study, rows, simulated);
  if (best) {
    json.value(*best);
  } else {
    json.null();
  }
  json.field("optimal_r_paper", faults::paper::optimal_redundancy(study.system.units));
  if (planned != nullptr) {
    json.field("plan", planned->plan).field("status", planned->status_name);
    if (!planned->criterion.empty()) json.field("criterion", planned->criterion);
  }
  json.begin_array("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    write_row(rows[i], simulated.empty() ? nullptr : &simulated[i], study.system.steps, json);
  }
  json.end_array().begin_array("notes");
  for (const std::string& note : notes) json.value(note);
  return json.end_array().end_object().take();
}

// Rows without closed forms.
void add_unknown_note(const RedundancyStudy& study, const std::vector<RedundancyRow>& rows,
                      std::vector<std::string>& notes) {
  const auto unknown =
      std::count_if(rows.begin(), rows.end(), [](const RedundancyRow& row) { return !row.is_known(); });
  if (unknown == 0) return;
  const faults::Simulation& system = study.system;
  const double step_s = system.step.fixed_s + system.step.per_stack_s;
  const double mtbf_s = system.environment.group_mtbf_s / static_cast<double>(system.units);
  notes.push_back(
      fmt::format("failures come every {:.2g} steps: no closed form is good for the {} rows without a time, "
                  "whose steps are "
                  "patched over and over; --simulate plays them, with a checkpoint after every {}",
                  mtbf_s / step_s, unknown,
                  system.checkpoint_every > 0 ? fmt::format("{} steps", system.checkpoint_every) : "step"));
}

// Rows with too many states for the form that is due.
void add_rough_note(const std::vector<RedundancyRow>& rows, std::vector<std::string>& notes) {
  const auto rough =
      std::count_if(rows.begin(), rows.end(), [](const RedundancyRow& row) { return row.is_rough; });
  if (rough > 0)
    notes.push_back(
        fmt::format("{} of {} rows have too many states for the form of failures that come every few steps: "
                    "theirs is the "
                    "one for rarer failures, and may be some per cent off",
                    rough, rows.size()));
}

std::string number(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return "never";
  return fmt::format("{:.{}f}", value, digits);
}

std::string with_error(double value, double standard_error, int digits) {
  if (!std::isfinite(value)) return number(value, digits);
  return fmt::format("{} +- {}", number(value, digits), number(standard_error, digits));
}

std::string elastic_text(const RedundancyStudy& study, const std::vector<RedundancyRow>& rows) {
  const RedundancyRow& row = rows.back();
  if (row.kind != RowKind::kElastic || !std::isfinite(row.time_ratio)) return "";
  if (study.elastic->rejoins)
    return "elastic: lost groups come back after their repair; there are no cycles.\n";
  return row.k_max > 0 ? fmt::format("elastic: restarts voluntarily after {} lost group{}.\n", row.k_max,
                                     row.k_max == 1 ? "" : "s")
                       : "elastic: never restarts voluntarily.\n";
}

std::string to_text(const RedundancyStudy& study, const std::vector<RedundancyRow>& rows,
                    const std::vector<RedundancySimulated>& simulated) {
  TextTable table;
  table.header = {"scheme",  "r",         "failures", "(paper)",         "stacks",
                  "(paper)", "available", "time",     "checkpoint every"};
  if (!simulated.empty()) {
    for (const char* name : {"| simulated: failures", "stacks", "available", "time"})
      table.header.push_back(name);
  }
  table.right.assign(table.header.size(), true);
  table.right[0] = false;
  const std::optional<int> best = optimal_redundancy(study, rows, simulated);
  bool is_marked = false;  // SPARe with r = 1 is checkpoints alone
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RedundancyRow& row = rows[i];
    const bool is_best =
        !is_marked && row.r == best && (row.kind == RowKind::kSpare || row.kind == RowKind::kCheckpoint);
    is_marked = is_marked || is_best;
    const std::string every =
        row.checkpoint_interval_s > 0
            ? fmt::format("{} step{}, {}", row.checkpoint_every, row.checkpoint_every == 1 ? "" : "s",
                          readable_duration(row.checkpoint_interval_s))
            : "-";
    std::vector<std::string> cells = {
        scheme_name(row.kind) + std::string(is_best ? " *" : ""),
        std::to_string(row.r),
        number(row.failures, 2),
        number(row.failures_paper, 2),
        number(row.stacks, 3),
        number(row.stacks_paper, 3),
        std::isfinite(row.time_ratio) ? number(100 * row.availability, 1) + " %" : "-",
        number(row.time_ratio, 3),
        every};
    if (!simulated.empty()) {
      const RedundancySimulated& s = simulated[i];
      cells.push_back(with_error(s.failures.value, s.failures.standard_error, 2));
      cells.push_back(number(s.stacks, 3));
      cells.push_back(number(100 * s.availability, 1) + (std::isnan(s.availability) ? "" : " %"));
      cells.push_back(with_error(s.time_ratio.value, s.time_ratio.standard_error, 3));
    }
    table.rows.push_back(std::move(cells));
  }
  std::string text = table.str();
  text += fmt::format(
      "\ntime: time-to-train over that of one stack without failures. failures: endured in a cycle, the last "
      "included.\n");
  const bool known = std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.is_known(); });
  if (!best && !known && simulated.empty()) {
    text += "Which r is best is not known: --simulate plays the rows that no closed form knows.\n";
  } else if (!best) {
    text += "None of checkpoints and SPARe ever finishes: failures come faster than progress.\n";
  } else if (*best == 0) {
    text += "Nothing fails: no redundancy and no checkpoints are needed.\n";
  } else {
    text += fmt::format("* least time of checkpoints and SPARe: r = {}{}. The paper's rule says r = {}.\n",
                        *best, *best == 1 ? " (checkpoints alone)" : "",
                        faults::paper::optimal_redundancy(study.system.units));
  }
  return text + elastic_text(study, rows);
}

}  // namespace

int run_redundancy(const RedundancyOptions& options, World& world) {
  world.together([&] {
    if (world.rank() == 0 && !options.plot.empty()) check_output_place(options.plot, "--plot");
    return true;
  });
  std::optional<PlanSystem> planned;
  if (!options.file.empty()) {
    planned = system_of_sweep(options, world);
    if (planned->plan.empty()) return planned->status;
  }
  const RedundancyStudy study = world.together([&] {
    return planned ? redundancy_study(options, &planned->system, planned->elastic)
                   : redundancy_study(options);
  });
  const int threads = options.threads > 0 ? options.threads : world.fair_threads();
  const std::vector<RedundancyRow> rows =
      world.together([&] { return rows_in_parallel(study, threads, world); });
  std::vector<RedundancyTrial> trials;
  if (options.simulate > 0) {
    const auto own =
        world.together([&] { return own_trials(study, rows, options.simulate, threads, world); });
    trials = gather(own, rows.size() * static_cast<std::size_t>(options.simulate), world);
  }
  const int status = world.together([&] {
    if (world.rank() != 0) return int{kDone};
    std::vector<RedundancySimulated> simulated;
    const auto each = static_cast<std::size_t>(options.simulate);
    for (std::size_t i = 0; i < rows.size() && each > 0; ++i) {
      simulated.push_back(faults::summarize(std::span(trials).subspan(i * each, each)));
    }
    std::vector<std::string> notes = redundancy_notes(options, study);
    if (planned) notes.insert(notes.end(), planned->notes.begin(), planned->notes.end());
    if (!options.plot.empty()) write_file(options.plot, redundancy_plot(rows, simulated));
    add_unknown_note(study, rows, notes);
    add_rough_note(rows, notes);
    if (options.json) {
      print(to_json(study, planned ? &*planned : nullptr, rows, simulated, notes));
      return planned ? planned->status : int{kDone};
    }
    say_notes(notes);
    if (planned) print(planned->plan + "\n");
    print(to_text(study, rows, simulated));
    return planned ? planned->status : int{kDone};
  });
  return std::stoi(world.broadcast(std::to_string(status)));
}

}  // namespace trainfront::engine
