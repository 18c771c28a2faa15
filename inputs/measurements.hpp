#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// What a caller says of files that do not say it themselves (nccl-tests output, profiler traces).
struct MeasurementDefaults {
  std::string gpu = {};         // where a file names none
  std::string fabric = {};      // "IB NDR 8x400Gb/s per node"
  std::string collective = {};  // "all_reduce", ...
  int ranks = 0;                // of a log's run; of a trace's job
  int nodes = 0;
  std::string source = {};  // who measured it, in words
};

// The best sustained matrix product that was found on a device (MAMF, stas00/ml-engineering).
struct SustainedRate {
  costmodel::Precision precision = costmodel::Precision::kBf16;
  double m = 0, n = 0, k = 0;
  double flops_per_s = 0;
};

struct Measurements {
  std::map<std::string, costmodel::Samples> samples;            // by device id
  std::map<std::string, std::vector<SustainedRate>> sustained;  // by device id
  std::map<std::string, std::size_t> not_modelled;              // rows, by reason
  std::set<std::string> stated_fabrics;  // of logs and traces, by an option or by FILE.meta
  std::size_t rows = 0;                  // read, bad ones included
  std::vector<std::string> notes;        // what was inferred, in words
  // Files of which so many rows contradict themselves or the data sheet that nothing may be made of them.
  std::vector<Fault> refused;
};

// What the catalogue says of a device that a file names; it outlives the reading. Null: not known.
struct MeasuredDevice {
  MeasuredDevice(const costmodel::Device* known = nullptr, int gpus = 0) : device(known), domain_gpus(gpus) {}

  const costmodel::Device* device;
  int domain_gpus;  // GPUs on one scale-up fabric; 0: not known
};

// The device that a file spells so.
using DeviceResolver = std::function<MeasuredDevice(std::string_view)>;

// Adds a file: a tidy CSV (gemm, attention, elementwise, collectives, mamf; the header tells which), the
// standard output of nccl-tests, or a Chrome trace of PyTorch's profiler (plain or gzip). Lines that cannot
// be used go to `faults` and are left out; so do rows that contradict themselves or the data sheet.
void read_measurements(const std::filesystem::path& path, const DeviceResolver& resolve,
                       const MeasurementDefaults& defaults, Measurements& measurements, Diagnostics& faults);

// True if the header is that of an operator table.
bool is_operator_table(const std::vector<std::string>& header);

// True if the file is a table of operator measurements, by its header, nccl-tests output, or a trace.
bool is_measurement_file(const std::filesystem::path& path);

}  // namespace trainfront::inputs
