#pragma once

#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// A profile for a device that nobody has measured: its data sheet times the ratios seen on the measured
// device most like it (by device id: a100*, v100* like A100; h*, l40s like H100; b*, gb* like B200; mi* like
// MI300X; others like H100). Evidence is kDataSheet throughout. device.profile is not looked at.
DeviceProfile data_sheet_profile(const Device& device);

}  // namespace trainfront::costmodel
