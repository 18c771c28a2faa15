#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "costmodel/device_profile.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// A device profile as a TOML file, written by `trainfront calibrate` (docs/calibrating.md). Sections that the
// file lacks stay as in `base`: what was not measured is scaled from the data sheet and says so.

// Faults (file, line, key, what was found, what is allowed) go to `faults`: broken TOML, a schema that is not
// known, unknown sections and keys, wrong types, numbers out of range.
costmodel::DeviceProfile parse_profile(std::string_view text, std::string file,
                                       const costmodel::DeviceProfile& base, Diagnostics& faults);

// The same from disk; a file that cannot be read is a fault.
costmodel::DeviceProfile read_profile(const std::filesystem::path& path, const costmodel::DeviceProfile& base,
                                      Diagnostics& faults);

// The file's text, for the device of that id. What the profile only scales from the data sheet is left out;
// the rest reads back as it is, up to the rounding of numbers to six digits.
std::string write_profile(const costmodel::DeviceProfile& profile, std::string_view device);

// The device that a profile's text is for, as it spells it; empty if the text is no profile.
std::string profile_device(std::string_view text);

}  // namespace trainfront::inputs
