#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace trainfront::tests {

// A new empty folder among the temporary ones, its name beginning with `prefix`.
inline std::filesystem::path new_folder(const std::string& prefix) {
  std::string name = (std::filesystem::temp_directory_path() / (prefix + std::string(6, 'X'))).string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no new folder " + name);
  return name;
}

}  // namespace trainfront::tests
