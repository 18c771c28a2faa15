#pragma once

#include <string>
#include <string_view>

#include "inputs/contradicted_rows.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::inputs {

// The readers behind read_measurements. `text` is a whole file, `file` its name in messages.

void read_measurement_csv(const std::string& file, std::string text, const DeviceResolver& resolve,
                          Measurements& measurements, Diagnostics& faults);
void read_nccl_log(const std::string& file, std::string_view text, const MeasurementDefaults& defaults,
                   const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults);
void read_profiler_trace(const std::string& file, std::string_view json, const MeasurementDefaults& defaults,
                         const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults);

bool looks_like_nccl_log(std::string_view text);

// "nccl-tests all_reduce-8.log", and in brackets what FILE.meta says of where it comes from.
std::string source_name(std::string_view kind, const std::string& file, const MeasurementDefaults& said);

// Position of a source's name in samples.sources, appended if new.
int source_index(costmodel::Samples& samples, const std::string& source);

// Adds a collective's time; counts it as not modelled where the fabric is none of the device's, and as
// contradicted where it is faster than links and cards allow. Ranks on several nodes of a device that comes
// in racks share a rack where they can and no network is stated; a note says so. `row` says where it stands.
void add_collective(costmodel::CollectiveSample sample, std::string_view fabric, int nodes,
                    const std::string& source, const MeasuredDevice& measured, const Fault& row,
                    Measurements& measurements, ContradictedRows& contradicted);

}  // namespace trainfront::inputs
