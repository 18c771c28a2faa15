#pragma once

#include <string>
#include <string_view>

#include "inputs/catalog.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::inputs {

// The id of the device that a measurement spells so ("NVIDIA A100-SXM4-40GB", "H100 80GB HBM3", "A100-SXM4
// (vTrain)"); empty if the catalogue has none.
std::string device_of_spelling(const Catalog& catalog, std::string_view gpu);

// The same for readers of measurements. The catalogue must outlive it.
DeviceResolver device_resolver(const Catalog& catalog);

}  // namespace trainfront::inputs
