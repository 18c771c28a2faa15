#include "inputs/nccl_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "inputs/csv.hpp"

namespace trainfront::inputs {
namespace {

constexpr std::array<std::string_view, 8> kFloatTypes{"float",  "half",   "bfloat16", "double",
                                                      "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};
constexpr std::array<std::string_view, 6> kIntegerTypes{"int8",   "uint8", "int32",
                                                        "uint32", "int64", "uint64"};

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Times {
  double time_us = 0, algorithm = 0, bus = 0;
};

// The three numbers from a column on, if they are a time and its rates: algbw is size over time, printed with
// two decimals.
std::optional<Times> times_at(const std::vector<std::string_view>& words, std::size_t at, double bytes) {
  if (at + 2 >= words.size()) return std::nullopt;
  const std::optional<double> time = csv_number(words[at]), algorithm = csv_number(words[at + 1]),
                              bus = csv_number(words[at + 2]);
  if (!time || !algorithm || !bus) return std::nullopt;
  constexpr double kPrinted = 0.006, kRounded = 2e-3;
  const bool fits =
      *time > 0 && std::abs(bytes / *time / 1e3 - *algorithm) <= kPrinted + kRounded * *algorithm;
  if (!fits) return std::nullopt;
  return Times{*time, *algorithm, *bus};
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < line.size();) {
    begin = line.find_first_not_of(" \t\r", begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string_view without_prefix(std::string_view line) {
  // 2026-11-30T12:00:00.123Z, and " stdout F " where containerd wrote the file
  if (line.size() > 20 && line[4] == '-' && line[7] == '-' && line[10] == 'T' && line[13] == ':') {
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
    for (const std::string_view stream : {" stdout F ", " stderr F "}) {
      if (line.starts_with(stream)) line.remove_prefix(stream.size());
    }
  }
  if (const std::size_t tag = line.find("<stdout>:"); tag != std::string_view::npos && tag < 16) {
    return line.substr(tag + 9);
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > 6) return line;
  const std::string_view before = line.substr(0, colon);
  return before.find_first_not_of(" 0123456789") == std::string_view::npos ? line.substr(colon + 1) : line;
}

NcclLine read_nccl_line(std::string_view line, NcclRow& row) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 3) return NcclLine::kOther;
  const std::optional<double> bytes = csv_number(words[0]);
  if (!bytes || !csv_number(words[1])) return NcclLine::kOther;
  const bool of_integers = is_one_of(kIntegerTypes, words[2]);
  if (!of_integers && !is_one_of(kFloatTypes, words[2])) {
    const bool is_row = *bytes > 0 && (times_at(words, 5, *bytes) || times_at(words, 4, *bytes));
    return is_row ? NcclLine::kUnknownType : NcclLine::kOther;
  }
  row.bytes = *bytes;
  row.sums_integers = of_integers && words.size() > 3 && words[3] != "none";
  if (*bytes <= 0) return NcclLine::kRow;  // a warm-up row of nothing
  const auto was_not_run = [&](std::size_t at) { return at < words.size() && words[at] == "N/A"; };
  const std::size_t first = times_at(words, 5, *bytes) || was_not_run(5) ? 5 : 4;
  for (const std::size_t at : {first, first + 4}) {
    const std::optional<Times> times = times_at(words, at, *bytes);
    if (!times && was_not_run(at)) continue;
    if (!times) break;
    row.times_us.push_back(times->time_us);
    // Old versions print the greatest error here, a small number; "nan" is one of what was wrong.
    if (at + 3 < words.size() && !was_not_run(at + 3)) {
      const std::optional<double> wrong = csv_number(words[at + 3]);
      if (!wrong || *wrong < 0 || *wrong >= 1) row.wrong_results = words[at + 3];
    }
    if (times->algorithm >= 10) row.bus_over_algorithm = times->bus / times->algorithm;
  }
  return row.times_us.empty() ? NcclLine::kBroken : NcclLine::kRow;
}

std::string nccl_types() {
  return fmt::format("{}, {}", fmt::join(kFloatTypes, ", "), fmt::join(kIntegerTypes, ", "));
}

}  // namespace trainfront::inputs
