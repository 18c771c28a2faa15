#include "engine/output_place.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/errors.hpp"

namespace trainfront::engine {

void check_output_place(const std::filesystem::path& file, const std::string& option) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    error = std::make_error_code(std::errc::is_a_directory);
  } else if (!std::filesystem::exists(folder, error)) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  } else if (!std::filesystem::is_directory(folder, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  } else {
    error = ::access(folder.c_str(), W_OK | X_OK) == 0 ? std::error_code()
                                                       : std::error_code(errno, std::generic_category());
  }
  if (error) throw UsageError(fmt::format("{}: cannot write {}: {}", option, file.string(), error.message()));
}

}  // namespace trainfront::engine
