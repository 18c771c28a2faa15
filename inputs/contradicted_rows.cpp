#include "inputs/contradicted_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "costmodel/data_sheet_limits.hpp"
#include "inputs/csv.hpp"

namespace trainfront::inputs {
namespace {

// A slip of the clock or of the pen now and then is no reason to throw all away.
constexpr std::size_t kFew = 2;
constexpr double kFewShare = 0.1;

// Half a unit of the last digit of a plain decimal number; 0 for others.
double half_digit(std::string_view number) {
  if (number.find_first_of("eE") != std::string_view::npos) return 0;
  const std::size_t point = number.find('.');
  return 0.5 * std::pow(10.0, point == std::string_view::npos
                                  ? 0.0
                                  : -static_cast<double>(number.size() - point - 1));
}

std::string in_microseconds(double seconds) {
  return fmt::format("{:.4g} us", seconds * 1e6);
}

}  // namespace

void ContradictedRows::add(Fault fault) {
  ++count_;
  ++problems_[fault.problem];
  faults_.add(std::move(fault));
}

void ContradictedRows::finish(std::size_t rows, Measurements& measurements) const {
  const bool few = count_ <= kFew || static_cast<double>(count_) <= kFewShare * static_cast<double>(rows);
  if (count_ == 0 || (few && count_ < rows)) return;
  std::string reasons;
  for (const auto& [problem, of] : problems_) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", problem, of);
  }
  const bool only_wrong = problems_.size() == 1 && problems_.begin()->first == kWrongResults;
  measurements.refused.push_back(
      {file_,
       {},
       "",
       fmt::format("{} of {} rows cannot be true ({}): the others cannot be trusted either", count_, rows,
                   reasons),
       "",
       only_wrong ? "a run without wrong results (#wrong)"
                  : "times in microseconds, sizes in bytes, the device and the fabric that were measured",
       ""});
}

std::optional<Fault> too_fast(Fault row, double seconds, double least_seconds, std::string_view limit) {
  if (seconds * costmodel::kAboveDataSheet >= least_seconds) return std::nullopt;
  row.problem = fmt::format("faster than {}", limit);
  row.found = in_microseconds(seconds);
  row.allowed = "at least " + in_microseconds(least_seconds);
  return row;
}

std::optional<Fault> misstated(Fault row, std::string_view stated, double computed) {
  const std::optional<double> number = csv_number(stated);
  if (!number || *number <= 0) return std::nullopt;
  if (std::abs(computed - *number) <= half_digit(stated) + kStatedTolerance * std::max(computed, *number))
    return std::nullopt;
  row.problem = "contradicts the row's time, which may be in another unit";
  row.found = std::string(stated);
  row.allowed = fmt::format("{:.4g}, which follows from the row's sizes and time", computed);
  return row;
}

}  // namespace trainfront::inputs
