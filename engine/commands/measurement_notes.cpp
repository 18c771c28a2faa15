#include "engine/commands/measurement_notes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/terminal.hpp"

namespace trainfront::engine {

void say_reading(const inputs::Measurements& measurements, const inputs::Diagnostics& faults) {
  constexpr std::size_t kShownFaults = 20;
  const std::vector<inputs::Fault> list = faults.faults();
  const std::size_t shown = std::min(list.size(), kShownFaults);
  for (std::size_t i = 0; i < shown; ++i) say("left out: " + inputs::to_string(list[i]));
  if (faults.count() > shown) say(fmt::format("left out: {} more lines", faults.count() - shown));
  say_notes(measurements.notes);
  for (const auto& [reason, rows] : measurements.not_modelled)
    say(fmt::format("{} rows not modelled: {}", rows, reason));
}

}  // namespace trainfront::engine
