#include "inputs/failure_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "inputs/csv_records.hpp"
#include "inputs/document.hpp"
#include "inputs/quantity.hpp"

namespace trainfront::inputs {
namespace {

constexpr double kMostUnits = 1e6;
constexpr double kMost_s = 1e9;  // some thirty years
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2200;
constexpr std::string_view kTimeForm =
    "seconds or a duration since the start (\"3d4h\"), or a date (\"2026-03-01 04:05:06\")";

// Whole numbers between fixed separators, as in "2026-03-01"; how far the text was read, 0: it is none.
template <std::size_t kCount>
std::size_t read_numbers(std::string_view text, const char* separators, std::array<int, kCount>& numbers) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i > 0 && (at >= text.size() || text[at++] != separators[i - 1])) return 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), numbers[i]);
    if (error != std::errc() || numbers[i] < 0) return 0;
    at = static_cast<std::size_t>(end - text.data());
  }
  return at;
}

// Seconds since 1970, for years that trainings have.
std::optional<double> parse_date_s(std::string_view text) {
  std::array<int, 3> date{};
  std::size_t at = read_numbers(text, "--", date);
  const std::chrono::year_month_day day{std::chrono::year{date[0]},
                                        std::chrono::month{static_cast<unsigned>(date[1])},
                                        std::chrono::day{static_cast<unsigned>(date[2])}};
  if (at == 0 || !day.ok() || date[0] < kFirstYear || date[0] > kLastYear) return std::nullopt;
  double seconds = 86400.0 * static_cast<double>(std::chrono::sys_days{day}.time_since_epoch().count());
  if (at == text.size()) return seconds;
  if (text[at] != 'T' && text[at] != ' ') return std::nullopt;
  text.remove_prefix(at + 1);
  std::array<int, 3> clock{};
  at = read_numbers(text, "::", clock);
  if (at == 0 || clock[0] > 23 || clock[1] > 59 || clock[2] > 60) return std::nullopt;
  if (at < text.size() && text.substr(at) != "Z") return std::nullopt;
  return seconds + 3600.0 * clock[0] + 60.0 * clock[1] + clock[2];
}

struct Row {
  double time_s = 0;
  int units = 1;
  bool is_date = false;
};

class Reader {
 public:
  Reader(CsvFile& csv, Diagnostics& faults)
      : csv_(csv), faults_(faults), time_(csv.column("time")), units_(csv.find_column("units")) {}

  std::vector<Row> rows() {
    std::vector<Row> rows;
    while (next_record(csv_, faults_) && !faults_.full()) {
      Row row;
      if (!read(row)) continue;
      if (!rows.empty() && row.is_date != rows.front().is_date) {
        fault(time_, "is a date or a duration, unlike the rows above", "times of one kind");
        continue;
      }
      rows.push_back(row);
    }
    return rows;
  }

 private:
  void fault(std::size_t column, const std::string& problem, std::string_view allowed) {
    Fault found;
    found.file = csv_.name();
    found.at = {static_cast<int>(csv_.line_of(column)), static_cast<int>(csv_.column_of(column))};
    found.key = csv_.header()[column];
    found.problem = fmt::format("{} {}", in_quotes(csv_[column]), problem);
    found.allowed = allowed;
    faults_.add(std::move(found));
  }

  bool read(Row& row) {
    const auto seconds = parse_duration_s(csv_[time_]);
    const auto date = seconds ? std::nullopt : parse_date_s(csv_[time_]);
    row.is_date = date.has_value();
    row.time_s = seconds ? *seconds : date.value_or(-1);
    if ((!seconds && !date) || !(row.time_s >= 0)) {
      fault(time_, "is no time", kTimeForm);
      return false;
    }
    if (seconds && *seconds > kMost_s) {
      fault(time_, "is beyond any training", "at most 1e9 s");
      return false;
    }
    if (!units_) return true;
    const auto units = csv_number(csv_[*units_]);
    if (!units || *units != std::floor(*units) || *units < 0 || *units > kMostUnits) {
      fault(*units_, "is no number of lost units",
            "a whole number from 1 to 1000000; 0 marks the start of the training");
      return false;
    }
    row.units = static_cast<int>(*units);
    return true;
  }

  CsvFile& csv_;
  Diagnostics& faults_;
  std::size_t time_;
  std::optional<std::size_t> units_;
};

}  // namespace

std::vector<faults::DatedFailure> parse_failure_trace(std::string text, const std::string& name,
                                                      Diagnostics& faults) {
  std::vector<faults::DatedFailure> failures;
  std::vector<Row> rows;
  try {
    CsvFile csv(name, std::move(text), {.comment = '#'});
    rows = Reader(csv, faults).rows();
  } catch (const CsvError& error) {
    faults.add(to_fault(error));
    return failures;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.time_s < b.time_s; });
  const auto is_start = [](const Row& row) { return row.units == 0; };
  const auto start = std::find_if(rows.begin(), rows.end(), is_start);
  const double start_s = start != rows.end() ? start->time_s : 0;
  if (start == rows.end() && !rows.empty() && rows.front().is_date)
    faults.add(
        {name, {}, "units", "has no row of 0 units", "", "the date on which the training started", ""});
  if (std::count_if(rows.begin(), rows.end(), is_start) > 1)
    faults.add({name, {}, "units", "has more than one row of 0 units", "", "one start of the training", ""});
  for (const Row& row : rows)
    if (!is_start(row) && row.time_s >= start_s) failures.push_back({row.time_s - start_s, row.units});
  if (failures.empty() && faults.empty())
    faults.add({name, {}, "", "the file has no failures", "", "rows of time and units", ""});
  return failures;
}

std::vector<faults::DatedFailure> read_failure_trace(const std::filesystem::path& file, Diagnostics& faults) {
  auto text = read_text(file, faults);
  if (!text) return {};
  return parse_failure_trace(std::move(*text), file.string(), faults);
}

}  // namespace trainfront::inputs
