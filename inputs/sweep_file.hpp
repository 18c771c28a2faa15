#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/catalog.hpp"
#include "search/problem.hpp"

namespace trainfront::inputs {

// What a sweep file (docs/sweep-file.md) asks for.
struct SweepFile {
  search::Problem problem;
  // What the user should know of how the file was understood: defaults taken, rows left out, prices that look
  // wrong, billing by whole nodes. One sentence each, in the order of the sections.
  std::vector<std::string> notes;
};

// Reads and checks the whole file and what it names (a Hugging Face config, price catalogues; paths are
// relative to its folder) before anything is computed. Throws InputError with all faults at once.
SweepFile read_sweep_file(const std::filesystem::path& path);

// The same for text in memory: `file` stands for it in messages, other files are sought in `folder`,
// `builtin` is the shipped catalogue.
SweepFile parse_sweep_file(std::string_view text, const std::string& file,
                           const std::filesystem::path& folder, const Catalog& builtin);

}  // namespace trainfront::inputs
