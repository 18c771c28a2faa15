#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/section.hpp"

namespace trainfront::inputs {

// What a key that the search may vary holds.
struct ListRules {
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::size_t limit = 1000;  // values that {min, max, step} may stand for
  bool can_be_auto = false;
};

// Keys that hold a value, a list of values, {min, max, step} or "auto". Read in ascending order, each value
// once (a repetition is noted). Empty: the key is absent, "auto", or at fault.
std::vector<std::int64_t> read_integers(Section& section, std::string_view key, const ListRules& rules,
                                        std::vector<std::string>& notes);

// The same for names: positions in `names`.
std::vector<std::size_t> read_names(Section& section, std::string_view key,
                                    std::span<const std::string> names, bool can_be_auto,
                                    std::vector<std::string>& notes);

// The same for true and false.
std::vector<bool> read_booleans(Section& section, std::string_view key, std::vector<std::string>& notes);

}  // namespace trainfront::inputs
