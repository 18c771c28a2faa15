#pragma once

#include <filesystem>
#include <string>

namespace trainfront::engine {

// UsageError if no file can be written there: its folder is missing or may not be written to, or a folder
// stands in its place. To be asked before the work whose result goes there. `option` is what named it.
void check_output_place(const std::filesystem::path& file, const std::string& option);

}  // namespace trainfront::engine
