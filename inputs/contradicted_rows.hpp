#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "inputs/measurements.hpp"

namespace trainfront::inputs {

// Rows of one file of measurements that contradict themselves or the data sheet. Each is a fault; where they
// are many, the others cannot be trusted either, and the file is refused.
class ContradictedRows {
 public:
  ContradictedRows(std::string file, Diagnostics& faults) : file_(std::move(file)), faults_(faults) {}

  void add(Fault fault);  // by its problem the rows are counted

  // After the last row: `rows` had been read in all.
  void finish(std::size_t rows, Measurements& measurements) const;

 private:
  std::string file_;
  Diagnostics& faults_;
  std::size_t count_ = 0;
  std::map<std::string, std::size_t> problems_;  // how many rows have each
};

// The problem of a row of which nccl-tests says that the results were wrong.
inline constexpr std::string_view kWrongResults = "the test found wrong results";

// `row`, completed, if `seconds` is less than `least_seconds`, which the data sheet allows, or what else it
// is.
std::optional<Fault> too_fast(Fault row, double seconds, double least_seconds,
                              std::string_view limit = "the data sheet allows");

// `row`, completed, if `stated`, a rate as it is printed, is more than kStatedTolerance and the half of its
// last digit off what follows from the row's sizes and time. Nothing, if it states none.
std::optional<Fault> misstated(Fault row, std::string_view stated, double computed);
inline constexpr double kStatedTolerance = 0.1;  // times are printed in whole microseconds, too

}  // namespace trainfront::inputs
