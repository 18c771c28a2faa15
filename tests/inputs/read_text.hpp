#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "inputs/measurements.hpp"

namespace trainfront::inputs {

// What files give, and what is wrong with them.
struct TextReading {
  Measurements measurements;
  Diagnostics faults;

  // Reads a text as if it were a file, with `meta` beside it as LOG.meta if there is any.
  void read(const std::string& text, const DeviceResolver& resolve, const MeasurementDefaults& defaults,
            const std::string& meta = "", const std::string& name = "m.txt") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("trainfront-test-" + name);
    const std::filesystem::path sidecar = path.string() + ".meta";
    std::ofstream(path, std::ios::binary) << text;
    if (!meta.empty()) std::ofstream(sidecar) << meta;
    read_measurements(path, resolve, defaults, measurements, faults);
    std::filesystem::remove(path);
    std::filesystem::remove(sidecar);
  }
  const std::vector<costmodel::CollectiveSample>& collectives() {
    return measurements.samples["gpu"].collective;
  }
};

}  // namespace trainfront::inputs
