#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inputs/diagnostics.hpp"
#include "inputs/sweep_file.hpp"

namespace trainfront::inputs {

// The shipped catalogue, read once.
inline const Catalog& shipped() {
  static const Catalog catalog = builtin_catalog();
  return catalog;
}

// A small sweep file that is fine.
inline constexpr const char* kGoodSweep = R"([model]
name = "llama-3.1-8b"
[recipe]
tokens = 1e12
sequence_length = 8192
global_batch = 512
[layout]
tp = [1, 2, 4, 8]
[cluster]
devices = ["h100-sxm"]
gpus = {min = 64, max = 256, step = 64}
[market]
providers = ["aws", "coreweave"]
[failures]
protection = ["checkpoint"]
[goal]
deadline = "30d"
)";

// kGoodSweep with one line in place of another; the old line must be there.
std::string changed(std::string_view line, std::string_view by);

// What came of a text: the sweep, or the messages of its faults, one a line.
struct Attempt {
  SweepFile sweep;
  std::string faults;
  std::vector<Fault> list;

  const search::Problem& problem() const { return sweep.problem; }
};
Attempt attempt(std::string_view text);

bool has(std::string_view text, std::string_view part);
bool any_has(const std::vector<std::string>& notes, std::string_view part);

}  // namespace trainfront::inputs
