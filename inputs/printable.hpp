#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainfront::inputs {

// Bytes of the well-formed UTF-8 character that the text begins with (RFC 3629, table of section 4); 0 if it
// begins with none.
std::size_t utf8_length(std::string_view text);

// The text with control characters (C0, DEL, C1) as \n, \t or \xNN, and bytes that are no UTF-8 as \xNN: what
// a user's files hold cannot steer a terminal or break a line.
std::string printable(std::string_view text);

}  // namespace trainfront::inputs
