#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainfront::inputs {

// One row: size, count, type, redop, [root], then time, algbw, busbw, errors out of place and again in place.
// Old versions have no root; in-place columns, or all but the first, may be missing or cut off; columns of
// what was not run hold N/A.
struct NcclRow {
  int line = 0;
  double bytes = 0;
  bool sums_integers = false;  // NVLink SHARP cannot, and training does not
  std::vector<double> times_us = {};
  double bus_over_algorithm = 0;   // 0: too coarse to tell
  std::string wrong_results = {};  // that the test counted, or what it printed for their number
};

// kBroken: a row whose rates are not size over time; kUnknownType: a whole row of a type that is not known.
enum class NcclLine { kOther, kRow, kBroken, kUnknownType };

// Fills in the row, but for where it stands. `line` is without_prefix.
NcclLine read_nccl_line(std::string_view line, NcclRow& row);

// The types that rows may be of, for messages.
std::string nccl_types();

// The parts between blanks.
std::vector<std::string_view> words_of(std::string_view line);

// Launchers put "0: " or "[1,0]<stdout>:" before each line, containers' logs a time of day and "stdout F".
std::string_view without_prefix(std::string_view line);

}  // namespace trainfront::inputs
