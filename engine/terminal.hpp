#pragma once

#include <string>
#include <string_view>

namespace trainfront::engine {

// Writes to standard output; main checks that it arrived.
void print(std::string_view text);

// A message to the user on standard error.
void say(std::string_view message);

// True if the descriptor (1: output, 2: messages) is a terminal.
bool is_terminal(int descriptor);

}  // namespace trainfront::engine
