#pragma once

#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// A generation of devices: their kernels, and their libraries' choices, are of one kind.
enum class DeviceFamily { kOther, kVolta, kAmpere, kAda, kHopper, kBlackwell, kCdna };

// By device id: v100*, a100* and a800*, l40*, h100* to h800* and gh200*, b200* to gb300*, mi*. kOther: none
// of these is known.
DeviceFamily family_of(const Device& device);

// Both are known, and of one family.
bool same_family(const Device& device, const Device& other);

}  // namespace trainfront::costmodel
