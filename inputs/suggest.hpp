#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace trainfront::inputs {

// Fewest single-byte insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal
// string alignment; Damerau 1964). Letter case, '-' and '_' do not count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name that `name` was probably meant to be; empty if none is near (within a third of its length,
// at least 2).
std::string nearest(std::string_view name, std::span<const std::string> known);

// "a, b, c"; beyond `limit` names "a, b, ... (n in all)".
std::string join(std::span<const std::string> names, std::size_t limit = 40);

}  // namespace trainfront::inputs
