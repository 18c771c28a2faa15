#include "inputs/measurements.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "costmodel/data_sheet_limits.hpp"
#include "inputs/count.hpp"
#include "inputs/csv.hpp"
#include "inputs/measured_fabric.hpp"
#include "inputs/measurement_text.hpp"
#include "inputs/nccl_heading.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

// Unpacks gzip; nothing if the bytes are broken. A limit keeps a small file from filling the memory.
std::optional<std::string> unpack(std::string_view packed) {
  constexpr std::size_t kMostBytes = std::size_t{2} << 30;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::array<char, 1 << 16> chunk{};
  int status = Z_OK;
  while (status == Z_OK && text.size() < kMostBytes) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    // Files that were packed one by one and joined.
    const bool more = stream.avail_in > 1 && stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b;
    if (status == Z_STREAM_END && more) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return std::nullopt;
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// "key=value" lines of FILE.meta, where there is one, say what a log leaves out.
MeasurementDefaults with_sidecar(const std::filesystem::path& path, MeasurementDefaults defaults,
                                 Diagnostics& faults) {
  static const std::vector<std::string> kKeys{"gpu", "fabric", "op", "n", "nodes", "source", "provenance"};
  const std::string file = path.string() + ".meta";
  std::ifstream sidecar(file);
  int number = 0;
  std::set<std::string> given;
  for (std::string line; std::getline(sidecar, line);) {
    ++number;
    std::string_view text = line;
    if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    text = trimmed(text);
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string key(trimmed(text.substr(0, equals)));
    const std::string value(trimmed(text.substr(std::min(equals + 1, text.size()))));
    Fault fault{file, {number, 1}, key, "", "", "", ""};
    if (equals == text.size()) {
      fault.key = "";
      fault.problem = "not a line of key=value";
      fault.found = text;
      fault.allowed = join(kKeys);
      faults.add(std::move(fault));
      continue;
    }
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      fault.problem = "unknown key";
      fault.allowed = join(kKeys);
      fault.suggestion = nearest(key, kKeys);
      faults.add(std::move(fault));
      continue;
    }
    if (!given.insert(key).second) {
      fault.problem = "said twice; the first counts";
      fault.found = value;
      faults.add(std::move(fault));
      continue;
    }
    if (key == "op" && !nccl_collective(value)) {
      fault.problem = "collective not known, or not modelled";
      fault.found = value;
      fault.allowed = join(nccl_collectives());
      fault.suggestion = nearest(value, nccl_collectives());
      faults.add(std::move(fault));
      continue;
    }
    if (key == "n" || key == "nodes") {
      const std::optional<int> count = count_of(csv_number(value).value_or(0));
      if (!count) {
        fault.problem = "not a count";
        fault.found = value;
        fault.allowed = "a whole number above 0";
        faults.add(std::move(fault));
        continue;
      }
      int& said = key == "n" ? defaults.ranks : defaults.nodes;
      if (said == 0) said = *count;
    }
    if (key == "gpu" && defaults.gpu.empty()) defaults.gpu = value;
    if (key == "fabric" && defaults.fabric.empty()) defaults.fabric = value;
    if (key == "op" && defaults.collective.empty()) defaults.collective = value;
    if (key == "source") defaults.source = value;
  }
  return defaults;
}

int index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<int>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

void add_once(std::string note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace

std::string source_name(std::string_view kind, const std::string& file, const MeasurementDefaults& said) {
  std::string name = fmt::format("{} {}", kind, file.substr(file.find_last_of('/') + 1));
  if (said.source.empty()) return name;
  std::string source = said.source;
  std::replace(source.begin(), source.end(), ';', ',');  // which parts sources in a profile
  return fmt::format("{} ({})", name, source);
}

int source_index(costmodel::Samples& samples, const std::string& source) {
  return index_of(samples.sources, source);
}

void add_collective(costmodel::CollectiveSample sample, std::string_view fabric, int nodes,
                    const std::string& source, const MeasuredDevice& measured, const Fault& row,
                    Measurements& measurements, ContradictedRows& contradicted) {
  const costmodel::Device& device = *measured.device;
  if (nodes > sample.placement.ranks) {
    Fault fault = row;
    fault.problem = "more nodes than ranks";
    fault.found = fmt::format("{} nodes", nodes);
    fault.allowed = fmt::format("at most the {} ranks", sample.placement.ranks);
    return contradicted.add(std::move(fault));
  }
  const MeasuredFabric read = read_fabric(fabric, sample.placement.ranks, nodes, measured.domain_gpus);
  if (read.taken_for_a_rack || read.taken_for_nodes) {
    const std::string where =
        fmt::format("{}: {} ranks on {} nodes of {}", row.file, sample.placement.ranks, nodes, device.id);
    add_once(
        read.taken_for_a_rack
            ? fmt::format("{} are taken for one scale-up domain, which holds {}; name the network's cards in "
                          "the fabric if they went over it",
                          where, measured.domain_gpus)
            : fmt::format("{} are taken for a scale-up domain a node, as the fabric names a network alone; "
                          "name NVL72 in it if racks of {} were one domain each",
                          where, measured.domain_gpus),
        measurements.notes);
  }
  sample.placement = read.placement;
  sample.nic_bytes_per_s = read.nic_bytes_per_s;
  if (read.pairwise) {
    ++measurements.not_modelled["collective over pairwise bridges"];
    return;
  }
  if (sample.placement.domains > 1 && sample.nic_bytes_per_s <= 0) {
    ++measurements.not_modelled["collective across nodes, rate of the network cards not stated"];
    return;
  }
  const double least_s = costmodel::least_seconds(device, sample, read.domain_bytes_per_s);
  const std::string_view limit =
      sample.placement.domains > 1 ? "the cards of the fabric that is stated allow" : "the data sheet allows";
  if (std::optional<Fault> fault = too_fast(row, sample.seconds, least_s, limit)) {
    contradicted.add(std::move(*fault));
    return;
  }
  costmodel::Samples& samples = measurements.samples[device.id];
  sample.source = source_index(samples, source);
  sample.fabric = index_of(samples.fabrics, std::string(fabric));
  samples.collective.push_back(sample);
}

namespace {

// A file's text, unpacked; or what is wrong with it.
std::optional<std::string> whole_text(const std::filesystem::path& path, std::string& problem) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    problem = "is a folder, not a file";
    return std::nullopt;
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    problem = "cannot be opened";
    return std::nullopt;
  }
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.starts_with("\x1f\x8b")) {
    std::optional<std::string> unpacked = unpack(text);
    if (!unpacked) problem = "broken or huge gzip file";
    return unpacked;
  }
  return text;
}

std::size_t begin_of(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
}

bool looks_like_trace(std::string_view text) {
  const std::size_t begin = begin_of(text);
  return begin != std::string_view::npos && (text[begin] == '{' || text.substr(begin, 2) == "[{");
}

}  // namespace

void read_measurements(const std::filesystem::path& path, const DeviceResolver& resolve,
                       const MeasurementDefaults& defaults, Measurements& measurements, Diagnostics& faults) {
  const std::string file = path.string();
  std::string problem;
  std::optional<std::string> text = whole_text(path, problem);
  if (text && begin_of(*text) == std::string::npos) problem = "is empty";
  if (!problem.empty()) return faults.add({file, {}, "", problem, "", "", ""});
  const bool is_trace = looks_like_trace(*text);
  if (!is_trace && !looks_like_nccl_log(*text))
    return read_measurement_csv(file, std::move(*text), resolve, measurements, faults);
  const MeasurementDefaults said = with_sidecar(path, defaults, faults);
  if (!said.fabric.empty()) measurements.stated_fabrics.insert(said.fabric);
  if (is_trace) {
    read_profiler_trace(file, *text, said, resolve, measurements, faults);
  } else {
    read_nccl_log(file, *text, said, resolve, measurements, faults);
  }
}

bool is_measurement_file(const std::filesystem::path& path) {
  std::string problem;
  std::optional<std::string> text = whole_text(path, problem);
  if (!text) return false;  // whoever reads it says what is wrong with it
  if (looks_like_trace(*text) || looks_like_nccl_log(*text)) return true;
  try {
    return is_operator_table(CsvFile(path.string(), std::move(*text)).header());
  } catch (const CsvError&) {
    return false;
  }
}

}  // namespace trainfront::inputs
