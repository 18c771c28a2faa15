#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "costmodel/link_passes.hpp"
#include "inputs/count.hpp"
#include "inputs/csv.hpp"
#include "inputs/measurement_text.hpp"
#include "inputs/nccl_heading.hpp"
#include "inputs/nccl_line.hpp"
#include "inputs/profile_fields.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

std::string_view name_of(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

// What one run printed.
struct Section {
  NcclHeading heading;
  std::vector<NcclRow> rows;
};

// Of all runs of a job.
int slurm_tasks(std::string_view line) {
  constexpr std::string_view kName = "SLURM_NTASKS=";
  if (!line.starts_with(kName)) return 0;
  line.remove_prefix(kName.size());
  return count_of(csv_number(line.substr(0, line.find_first_of(" \t\r"))).value_or(0)).value_or(0);
}

// True if a line is the header of an operator table, whose rows nobody would read here.
bool is_table_header(std::string_view line) {
  std::vector<std::string> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view column = line.substr(begin, end - begin);
    while (!column.empty() && (column.back() == '\r' || column.back() == ' ')) column.remove_suffix(1);
    columns.emplace_back(column);
    begin = end + 1;
  }
  return columns.size() > 3 && is_operator_table(columns);
}

// Ranks from busbw / algbw: 2 (n-1)/n of all_reduce, (n-1)/n of the others. 0: cannot be told.
int infer_ranks(const std::vector<NcclRow>& rows, Collective collective) {
  std::vector<double> guesses;
  for (const NcclRow& row : rows) {
    const double ratio = row.bus_over_algorithm / (collective == Collective::kAllReduce ? 2 : 1);
    if (ratio > 0 && ratio < 1) guesses.push_back(1 / (1 - ratio));
  }
  if (guesses.empty() || collective == Collective::kSendRecv) return 0;
  std::sort(guesses.begin(), guesses.end());
  const double guess = guesses[guesses.size() / 2];
  // Above a few dozen ranks the printed digits only tell the number of nodes of eight.
  return count_of(guess < 24 ? std::round(guess) : 8 * std::round(guess / 8)).value_or(0);
}

class LogReader {
 public:
  LogReader(const std::string& file, const MeasurementDefaults& defaults, const DeviceResolver& resolve,
            Measurements& measurements, Diagnostics& faults)
      : file_(file),
        defaults_(defaults),
        resolve_(resolve),
        measurements_(measurements),
        faults_(faults),
        contradicted_(file, faults) {}

  void read(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      read_line(without_prefix(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    std::size_t rows = 0;
    for (const Section& section : sections_) {
      add(section);
      rows += section.rows.size();
    }
    contradicted_.finish(rows, measurements_);
    if (!settings_.empty()) {
      measurements_.notes.push_back(fmt::format("{}: run with {}; its times are taken as if NCCL had chosen",
                                                file_, fmt::join(settings_, ", ")));
    }
  }

 private:
  Fault fault(int line, std::string problem, std::string found, std::string allowed) const {
    return {file_, {line, line > 0 ? 1 : 0}, "", std::move(problem), std::move(found), std::move(allowed),
            ""};
  }

  void read_line(std::string_view line) {
    NcclRow row{.line = ++number_};
    const NcclLine kind = read_nccl_line(line, row);
    if (kind == NcclLine::kRow) return sections_.back().rows.push_back(row);
    if (kind != NcclLine::kOther) {
      ++measurements_.rows;
      const bool unknown = kind == NcclLine::kUnknownType;
      return faults_.add(
          fault(number_, unknown ? "type not known" : "not a whole row of nccl-tests", std::string(line),
                unknown ? nccl_types() : "size, count, type, redop, root, time, algbw = size / time, busbw"));
    }
    if (line.find("Test NCCL failure") != std::string_view::npos ||
        line.find("Test CUDA failure") != std::string_view::npos) {
      // Every process says so.
      bool& failed = sections_.back().heading.failed;
      if (!failed) {
        measurements_.notes.push_back(
            fmt::format("{}:{}: the test failed here; the rows before it count", file_, number_));
      }
      failed = true;
    } else if (is_table_header(line)) {
      faults_.add(fault(number_, "a table in the middle of nccl-tests output; its rows are left out", "",
                        "each in a file of its own"));
    } else {
      slurm_tasks_ = std::max(slurm_tasks_, slurm_tasks(line));
      for (std::string& setting : nccl_settings(line)) settings_.insert(std::move(setting));
      if (!sections_.back().rows.empty() && begins_nccl_run(line)) sections_.emplace_back();
      read_nccl_heading(line, sections_.back().heading);
    }
  }

  void add(const Section& section) {
    const auto& [heading, rows] = section;
    if (rows.empty()) return;
    const int line = sections_.size() > 1 ? rows.front().line : 0;
    if (!heading.other_program.empty()) {
      measurements_.rows += rows.size();
      measurements_.not_modelled["collective " + heading.other_program] += rows.size();
      return;
    }
    std::optional<Collective> collective = heading.collective;
    if (!defaults_.collective.empty()) {
      const std::optional<Collective> said = nccl_collective(defaults_.collective);
      if (!said) {
        return faults_.add(fault(line, "collective not known, or not modelled", defaults_.collective,
                                 join(nccl_collectives())));
      }
      if (collective && collective != said) {
        return faults_.add(fault(line, "measures another collective than stated; its rows are left out",
                                 std::string(name_of(*collective)), std::string(name_of(*said))));
      }
      collective = said;
    }
    // Without a name: the ratio of the rates passes 1 only for all_reduce.
    if (!collective && std::any_of(rows.begin(), rows.end(),
                                   [](const NcclRow& row) { return row.bus_over_algorithm > 1; })) {
      collective = Collective::kAllReduce;
    }
    if (!collective)
      return faults_.add(fault(line, "does not say which collective it measured", "", "--collective"));

    const int listed = heading.ranks.empty() ? 0 : *heading.ranks.rbegin() + 1;
    const bool lists_all = listed > 0 && heading.ranks.size() == static_cast<std::size_t>(listed);
    if (lists_all && defaults_.ranks > 0 && defaults_.ranks != listed) {
      return faults_.add(fault(line, "lists another number of ranks than stated; its rows are left out",
                               std::to_string(listed), std::to_string(defaults_.ranks)));
    }
    int ranks = defaults_.ranks;
    if (ranks == 0) ranks = lists_all ? listed : std::max(listed, slurm_tasks_);
    if (lists_all && defaults_.ranks == 0 && slurm_tasks_ > listed) {
      measurements_.notes.push_back(fmt::format("{}: {} ranks, as it lists them, of the {} tasks of the job",
                                                file_, listed, slurm_tasks_));
    }
    if (ranks < 2) {
      ranks = infer_ranks(rows, *collective);
      if (ranks >= 2)
        measurements_.notes.push_back(fmt::format("{}: {} ranks, inferred from the rates", file_, ranks));
    }
    if (ranks < 2) return faults_.add(fault(line, "does not say how many ranks took part", "", "--ranks"));
    int nodes = defaults_.nodes > 0 ? defaults_.nodes : static_cast<int>(heading.hosts.size());
    if (nodes < 1) {
      nodes = (ranks + 7) / 8;
      measurements_.notes.push_back(fmt::format("{}: {} nodes, assuming 8 GPUs each", file_, nodes));
    }
    const std::string gpu = defaults_.gpu.empty() ? heading.gpu : defaults_.gpu;
    const MeasuredDevice measured = resolve_(gpu);
    if (measured.device == nullptr)
      return faults_.add(fault(line, "GPU not in the catalogue", gpu,
                               "gpu=NAME in " + file_ + ".meta, of the catalogue's devices"));
    for (const NcclRow& row : rows) add(row, *collective, ranks, nodes, measured);
  }

  void add(const NcclRow& row, Collective collective, int ranks, int nodes, const MeasuredDevice& measured) {
    ++measurements_.rows;
    if (row.bytes <= 0) return;
    if (row.sums_integers) return static_cast<void>(++measurements_.not_modelled["sums of integers"]);
    Fault place = fault(row.line, "", "", "");
    if (!row.wrong_results.empty()) {
      place.problem = kWrongResults;
      place.found = row.wrong_results;
      place.allowed = "0";
      return contradicted_.add(std::move(place));
    }
    // Bus over algorithm bandwidth tells collective and ranks apart.
    constexpr double kRounded = 0.05;
    const double passes = costmodel::link_passes(collective, ranks);
    if (row.bus_over_algorithm > 0 && std::abs(row.bus_over_algorithm / passes - 1) > kRounded) {
      place.problem = "busbw / algbw is not that of the collective and the ranks that are stated";
      place.found = fmt::format("{:.3g}", row.bus_over_algorithm);
      place.allowed = fmt::format("{:.3g} for {} of {} ranks", passes, name_of(collective), ranks);
      return contradicted_.add(std::move(place));
    }
    const double time_us = *std::min_element(row.times_us.begin(), row.times_us.end());
    costmodel::CollectiveSample sample{
        .collective = collective, .bytes = row.bytes, .seconds = time_us * 1e-6};
    sample.placement.ranks = ranks;
    add_collective(sample, defaults_.fabric, nodes, source_name("nccl-tests", file_, defaults_), measured,
                   place, measurements_, contradicted_);
  }

  const std::string& file_;
  const MeasurementDefaults& defaults_;
  const DeviceResolver& resolve_;
  Measurements& measurements_;
  Diagnostics& faults_;
  ContradictedRows contradicted_;
  std::vector<Section> sections_{1};
  int number_ = 0;
  int slurm_tasks_ = 0;
  std::set<std::string> settings_;
};

}  // namespace

bool looks_like_nccl_log(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    NcclRow row;
    const NcclLine kind = read_nccl_line(without_prefix(text.substr(begin, end - begin)), row);
    if (kind == NcclLine::kRow || kind == NcclLine::kUnknownType) return true;
    begin = end + 1;
  }
  return false;
}

void read_nccl_log(const std::string& file, std::string_view text, const MeasurementDefaults& defaults,
                   const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults) {
  LogReader(file, defaults, resolve, measurements, faults).read(text);
}

}  // namespace trainfront::inputs
