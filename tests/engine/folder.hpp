#pragma once

#include <filesystem>

#include "tests/new_folder.hpp"

namespace trainfront::tests {

// A new empty folder that goes with its owner.
class Folder {
 public:
  Folder() : path_(new_folder("trainfront-engine-")) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace trainfront::tests
