#include "inputs/measurements.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "inputs/csv.hpp"
#include "inputs/measured_fabric.hpp"
#include "inputs/measurement_text.hpp"

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
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return std::nullopt;
  return text;
}

// "key=value" lines of FILE.meta, where there is one, say what a log leaves out.
MeasurementDefaults with_sidecar(const std::filesystem::path& path, MeasurementDefaults defaults,
                                 std::string& source) {
  std::ifstream sidecar(path.string() + ".meta");
  for (std::string line; std::getline(sidecar, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "gpu" && defaults.gpu.empty()) defaults.gpu = value;
    if (key == "fabric" && defaults.fabric.empty()) defaults.fabric = value;
    if (key == "op" && defaults.collective.empty()) defaults.collective = value;
    if (key == "n" && defaults.ranks == 0) defaults.ranks = static_cast<int>(csv_number(value).value_or(0));
    if (key == "nodes" && defaults.nodes == 0)
      defaults.nodes = static_cast<int>(csv_number(value).value_or(0));
    if (key == "source") source = value;
  }
  return defaults;
}

int index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<int>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

}  // namespace

int source_index(costmodel::Samples& samples, const std::string& source) {
  return index_of(samples.sources, source);
}

void add_collective(costmodel::CollectiveSample sample, std::string_view fabric, int nodes,
                    const std::string& source, const std::string& device, Measurements& measurements) {
  const MeasuredFabric read = read_fabric(fabric, sample.placement.ranks, nodes);
  sample.placement = read.placement;
  sample.nic_bytes_per_s = read.nic_bytes_per_s;
  if (read.pairwise) {
    ++measurements.not_modelled["collective over pairwise bridges"];
  } else if (sample.placement.domains > 1 && sample.nic_bytes_per_s <= 0) {
    ++measurements.not_modelled["collective across nodes, rate of the network cards not stated"];
  } else {
    costmodel::Samples& samples = measurements.samples[device];
    sample.source = source_index(samples, source);
    sample.fabric = index_of(samples.fabrics, std::string(fabric));
    samples.collective.push_back(sample);
  }
}

void read_measurements(const std::filesystem::path& path, const DeviceResolver& resolve,
                       const MeasurementDefaults& defaults, Measurements& measurements, Diagnostics& faults) {
  const std::string file = path.string();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return faults.add({file, {}, "", "is a folder, not a file", "", "", ""});
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return faults.add({file, {}, "", "cannot be opened", "", "", ""});
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.starts_with("\x1f\x8b")) {
    std::optional<std::string> unpacked = unpack(text);
    if (!unpacked) return faults.add({file, {}, "", "broken or huge gzip file", "", "", ""});
    text = std::move(*unpacked);
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string::npos) return faults.add({file, {}, "", "is empty", "", "", ""});
  std::string source = path.filename().string();
  if (text[begin] == '{' || text.compare(begin, 2, "[{") == 0) {
    read_profiler_trace(file, text, with_sidecar(path, defaults, source), resolve, measurements, faults);
  } else if (looks_like_nccl_log(text)) {
    read_nccl_log(file, text, with_sidecar(path, defaults, source), resolve, measurements, faults);
  } else {
    read_measurement_csv(file, std::move(text), resolve, measurements, faults);
  }
}

}  // namespace trainfront::inputs
