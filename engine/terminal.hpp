#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainfront::engine {

// Writes to standard output; main checks that it arrived.
void print(std::string_view text);

// A message to the user on standard error, of one or more lines; other control characters are escaped, since
// it may repeat what a file holds.
void say(std::string_view message);
// One line each.
void say_notes(std::span<const std::string> notes);

// True if the descriptor (1: output, 2: messages) is a terminal.
bool is_terminal(int descriptor);

}  // namespace trainfront::engine
