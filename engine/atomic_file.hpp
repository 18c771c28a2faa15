#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainfront::engine {

// Writes the whole file beside its place, brings it to the disk, and renames it there: whoever looks sees the
// old file or the new one, never a part. Throws MachineError with the path and the system's reason (full
// disk, quota, read-only); nothing is left behind then.
void write_file(const std::filesystem::path& path, std::string_view content);

struct FileContent {
  std::filesystem::path path;
  std::string content;
};
// Files that belong together: none is renamed before all are on the disk, so that a full disk leaves the
// former files as they were. Throws MachineError like write_file.
void write_files(const std::vector<FileContent>& files);

// The same without waiting for the disk, for what is worth nothing after a power cut: whoever looks sees a
// whole file, and it costs some 50 us.
void replace_file(const std::filesystem::path& path, std::string_view content);

// Takes away what writers that were killed in the middle left beside the files of this folder.
void remove_half_written(const std::filesystem::path& folder);

// Makes the folder and its parents and checks that files can be written there. Throws MachineError.
void make_writable_folder(const std::filesystem::path& folder);

// The whole content. Throws MachineError.
std::string read_file(const std::filesystem::path& path);

}  // namespace trainfront::engine
