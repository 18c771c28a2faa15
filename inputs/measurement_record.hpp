#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "inputs/contradicted_rows.hpp"
#include "inputs/csv.hpp"

namespace trainfront::inputs {

// One record, whose numbers are taken by column name. What is not a positive number is a fault.
class MeasurementRecord {
 public:
  MeasurementRecord(const CsvFile& file, Diagnostics& faults, ContradictedRows& contradicted)
      : file_(file), faults_(faults), contradicted_(contradicted) {}

  std::string text(std::string_view column) const {
    const std::optional<std::size_t> at = file_.find_column(column);
    return at ? std::string(file_[*at]) : std::string();
  }

  double number(std::string_view column) {
    const std::size_t at = file_.column(column);
    const std::optional<double> value = csv_number(file_[at]);
    if (value && *value > 0) return *value;
    Fault fault = place(at, column);
    fault.problem = "not a measurement";
    fault.found = std::string(file_[at]);
    fault.allowed = "a number above 0";
    faults_.add(std::move(fault));
    good_ = false;
    return 1;
  }

  // Where there is such a column, the rate that it states must be the one that follows from the others.
  void must_agree(std::string_view column, double computed) {
    const std::optional<std::size_t> at = file_.find_column(column);
    if (good_ && at) contradict(misstated(place(*at, column), file_[*at], computed));
  }

  // What the data sheet allows.
  void must_take(double least_s, double seconds) {
    if (good_) contradict(too_fast(place(file_.column("time_us"), "time_us"), seconds, least_s));
  }

  // For a fault that is no bad number.
  void contradict(std::optional<Fault> fault) {
    if (!fault) return;
    contradicted_.add(std::move(*fault));
    good_ = false;
  }
  Fault at(std::string_view column) const { return place(file_.column(column), column); }
  ContradictedRows& contradicted() { return contradicted_; }

  bool is_good() const { return good_; }

 private:
  Fault place(std::size_t at, std::string_view column) const {
    return {file_.name(),
            {static_cast<int>(file_.line_of(at)), static_cast<int>(file_.column_of(at))},
            std::string(column),
            "",
            "",
            "",
            ""};
  }

  const CsvFile& file_;
  Diagnostics& faults_;
  ContradictedRows& contradicted_;
  bool good_ = true;
};

}  // namespace trainfront::inputs
