#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "inputs/csv.hpp"
#include "inputs/measurement_text.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

constexpr std::array<std::string_view, 6> kFloatTypes{"float",  "half",   "bfloat16",
                                                      "double", "f8e4m3", "f8e5m2"};
constexpr std::array<std::string_view, 6> kIntegerTypes{"int8",   "uint8", "int32",
                                                        "uint32", "int64", "uint64"};

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Named {
  std::string_view name;
  Collective collective;
};
// As nccl-tests names its programs, and as tables name the operation.
constexpr std::array<Named, 7> kPrograms{{{"all_reduce", Collective::kAllReduce},
                                          {"all_gather", Collective::kAllGather},
                                          {"reduce_scatter", Collective::kReduceScatter},
                                          {"alltoall", Collective::kAllToAll},
                                          {"all_to_all", Collective::kAllToAll},
                                          {"sendrecv", Collective::kSendRecv},
                                          {"send_recv", Collective::kSendRecv}}};

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

// Launchers put "0: " or "[1,0]<stdout>:" before each line.
std::string_view without_prefix(std::string_view line) {
  if (const std::size_t tag = line.find("<stdout>:"); tag != std::string_view::npos && tag < 16) {
    return line.substr(tag + 9);
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > 6) return line;
  const std::string_view before = line.substr(0, colon);
  return before.find_first_not_of(" 0123456789") == std::string_view::npos ? line.substr(colon + 1) : line;
}

// One row: size, count, type, redop, [root], then time, algbw, busbw, errors out of place and again in place.
// Old versions have no root; in-place columns, or all but the first, may be missing or cut off.
struct Row {
  int line = 0;
  double bytes = 0;
  bool sums_integers = false;  // NVLink SHARP cannot, and training does not
  std::vector<double> times_us = {};
  double bus_over_algorithm = 0;  // 0: too coarse to tell
};

enum class Line { kOther, kRow, kBroken };

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

Line read_row(std::string_view line, Row& row) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 5) return Line::kOther;
  const bool of_integers = is_one_of(kIntegerTypes, words[2]);
  if (!of_integers && !is_one_of(kFloatTypes, words[2])) return Line::kOther;
  const std::optional<double> bytes = csv_number(words[0]);
  if (!bytes || !csv_number(words[1])) return Line::kOther;
  row.bytes = *bytes;
  row.sums_integers = of_integers && words[3] != "none";
  if (*bytes <= 0) return Line::kRow;  // a warm-up row of nothing
  const std::size_t first = times_at(words, 5, *bytes) ? 5 : 4;
  for (const std::size_t at : {first, first + 4}) {
    const std::optional<Times> times = times_at(words, at, *bytes);
    if (!times) break;
    row.times_us.push_back(times->time_us);
    if (times->algorithm >= 10) row.bus_over_algorithm = times->bus / times->algorithm;
  }
  return row.times_us.empty() ? Line::kBroken : Line::kRow;
}

struct Heading {
  int ranks = 0;
  std::set<std::string> hosts;
  std::string gpu;
  std::optional<Collective> collective;
};

void read_heading(std::string_view line, Heading& heading) {
  for (const Named& program : kPrograms) {
    if (line.find(std::string(program.name) + "_perf") != std::string_view::npos)
      heading.collective = program.collective;
  }
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() > 2 && words[0] == "#" && words[1] == "Rank") {
    heading.ranks = std::max(heading.ranks, static_cast<int>(csv_number(words[2]).value_or(-1)) + 1);
    const auto on = std::find(words.begin(), words.end(), "on");
    if (on != words.end() && on + 1 != words.end()) heading.hosts.emplace(*(on + 1));
    if (const std::size_t bus = line.find("] "); bus != std::string_view::npos && bus + 2 < line.size()) {
      std::string_view gpu = line.substr(bus + 2);
      gpu = gpu.substr(0, gpu.find_last_not_of(" \r\t") + 1);
      if (!gpu.empty()) heading.gpu = gpu;
    }
  }
  if (line.find("SLURM_NTASKS=") == 0) {
    heading.ranks = std::max(heading.ranks, std::atoi(std::string(line.substr(13)).c_str()));
  }
}

// Ranks from busbw / algbw: 2 (n-1)/n of all_reduce, (n-1)/n of the others. 0: cannot be told.
int infer_ranks(const std::vector<Row>& rows, Collective collective) {
  std::vector<double> guesses;
  for (const Row& row : rows) {
    const double ratio = row.bus_over_algorithm / (collective == Collective::kAllReduce ? 2 : 1);
    if (ratio > 0 && ratio < 1) guesses.push_back(1 / (1 - ratio));
  }
  if (guesses.empty() || collective == Collective::kSendRecv) return 0;
  std::sort(guesses.begin(), guesses.end());
  const double guess = guesses[guesses.size() / 2];
  // Above a few dozen ranks the printed digits only tell the number of nodes of eight.
  return static_cast<int>(guess < 24 ? std::lround(guess) : 8 * std::lround(guess / 8));
}

}  // namespace

bool looks_like_nccl_log(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Row row;
    if (read_row(without_prefix(text.substr(begin, end - begin)), row) == Line::kRow) return true;
    begin = end + 1;
  }
  return false;
}

void read_nccl_log(const std::string& file, std::string_view text, const MeasurementDefaults& defaults,
                   const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults) {
  Heading heading;
  std::vector<Row> rows;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = without_prefix(text.substr(begin, end - begin));
    begin = end + 1;
    Row row{.line = ++number};
    const Line kind = read_row(line, row);
    if (kind == Line::kRow) {
      rows.push_back(row);
    } else if (kind == Line::kBroken) {
      ++measurements.rows;
      faults.add({file,
                  {number, 1},
                  "",
                  "not a whole row of nccl-tests",
                  std::string(line),
                  "size, count, type, redop, root, time, algbw = size / time, busbw",
                  ""});
    } else if (line.find("Test NCCL failure") != std::string_view::npos) {
      measurements.notes.push_back(
          fmt::format("{}:{}: the test failed here; the rows before it count", file, number));
    } else {
      read_heading(line, heading);
    }
  }

  std::optional<Collective> collective = heading.collective;
  for (const Named& program : kPrograms) {
    if (defaults.collective == program.name) collective = program.collective;
  }
  // Without a name: the ratio of the rates passes 1 only for all_reduce.
  if (!collective &&
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.bus_over_algorithm > 1; })) {
    collective = Collective::kAllReduce;
  }
  if (!collective)
    return faults.add({file, {}, "", "does not say which collective it measured", "", "--collective", ""});

  int ranks = defaults.ranks > 0 ? defaults.ranks : heading.ranks;
  if (ranks < 2) {
    ranks = infer_ranks(rows, *collective);
    if (ranks >= 2)
      measurements.notes.push_back(fmt::format("{}: {} ranks, inferred from the rates", file, ranks));
  }
  if (ranks < 2)
    return faults.add({file, {}, "", "does not say how many ranks took part", "", "--ranks", ""});
  int nodes = defaults.nodes > 0 ? defaults.nodes : static_cast<int>(heading.hosts.size());
  if (nodes < 1) {
    nodes = (ranks + 7) / 8;
    measurements.notes.push_back(fmt::format("{}: {} nodes, assuming 8 GPUs each", file, nodes));
  }
  const std::string gpu = defaults.gpu.empty() ? heading.gpu : defaults.gpu;
  const std::string device = resolve(gpu);
  if (device.empty()) return faults.add({file, {}, "", "GPU not in the catalogue", gpu, "--device", ""});
  const std::string source = "nccl-tests " + file.substr(file.find_last_of('/') + 1);
  for (const Row& row : rows) {
    ++measurements.rows;
    if (row.bytes <= 0) continue;
    if (row.sums_integers) {
      ++measurements.not_modelled["sums of integers"];
      continue;
    }
    const double time_us = *std::min_element(row.times_us.begin(), row.times_us.end());
    costmodel::CollectiveSample sample{
        .collective = *collective, .bytes = row.bytes, .seconds = time_us * 1e-6};
    sample.placement.ranks = ranks;
    add_collective(sample, defaults.fabric, nodes, source, device, measurements);
  }
}

}  // namespace trainfront::inputs
