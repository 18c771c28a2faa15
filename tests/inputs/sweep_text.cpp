#include "sweep_text.hpp"

#include <algorithm>
#include <stdexcept>

namespace trainfront::inputs {

std::string changed(std::string_view line, std::string_view by) {
  std::string text = kGoodSweep;
  const std::size_t at = text.find(line);
  if (at == std::string::npos) throw std::logic_error(std::string("no such line: ").append(line));
  return text.replace(at, line.size(), by);
}

Attempt attempt(std::string_view text) {
  Attempt result;
  try {
    result.sweep = parse_sweep_file(text, "sweep.toml", TRAINFRONT_SOURCE_DIR "/inputs/examples", shipped());
  } catch (const InputError& error) {
    result.faults = error.what();
    result.list = error.faults();
  }
  return result;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool any_has(const std::vector<std::string>& notes, std::string_view part) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) { return has(note, part); });
}

}  // namespace trainfront::inputs
