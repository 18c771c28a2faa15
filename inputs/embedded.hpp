#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace trainfront::inputs {

// The text files of inputs/catalog, built into the program so that it runs from any folder.
struct EmbeddedFile {
  std::string_view path;  // below inputs/catalog: "devices.toml", "profiles/h100-sxm.toml"
  std::string_view text;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_files();

// The text of one of them.
std::optional<std::string_view> embedded_file(std::string_view path);

}  // namespace trainfront::inputs
