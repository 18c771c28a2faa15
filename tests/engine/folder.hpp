#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace trainfront::tests {

// A new empty folder that goes with its owner. The X stand for what mkdtemp puts there.
class Folder {
 public:
  Folder() {
    std::string made = (std::filesystem::temp_directory_path() / "trainfront-engine-XXXXXX").string();
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    path_ = made;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace trainfront::tests
