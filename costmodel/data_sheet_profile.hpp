#pragma once

#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// A profile for a device that nobody has measured: its data sheet times the ratios seen on the measured
// device most like it, by family (device_family.hpp): Volta like A100, Ada like H100, CDNA like MI300X,
// others like H100. Evidence is kDataSheet throughout. device.profile is not looked at.
DeviceProfile data_sheet_profile(const Device& device);

}  // namespace trainfront::costmodel
