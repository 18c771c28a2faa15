#include "engine/terminal.hpp"

#include <unistd.h>

#include <cstdio>

#include "inputs/printable.hpp"

namespace trainfront::engine {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void say(std::string_view message) {
  std::fflush(stdout);
  std::string line = "trainfront: ";
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = message.find('\n', begin);
    line += inputs::printable(message.substr(begin, end - begin)) + "\n";
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void say_notes(std::span<const std::string> notes) {
  for (const std::string& note : notes) say("note: " + inputs::printable(note));
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

}  // namespace trainfront::engine
