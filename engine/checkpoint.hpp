#pragma once

#include <filesystem>
#include <optional>

#include "engine/archive.hpp"

namespace trainfront::engine {

// The file a sweep leaves in its output folder while it is not finished.
inline constexpr const char* kCheckpointName = "sweep.checkpoint";

// One line of text with the format's version, length and checksum of what follows; then the packed snapshot.
// Written beside and renamed, so that a kill at any instant leaves the former file. Throws MachineError.
void save_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot);

// What `expected` says of program, problem, plans and blocks must be what the file was written for. No file:
// nothing. Throws UsageError with what differs and the way out: another version, another program or input, a
// file cut short or damaged, a file that is no checkpoint.
std::optional<Snapshot> load_checkpoint(const std::filesystem::path& path, const Snapshot& expected);

}  // namespace trainfront::engine
