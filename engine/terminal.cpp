#include "engine/terminal.hpp"

#include <unistd.h>

#include <cstdio>

namespace trainfront::engine {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void say(std::string_view message) {
  std::fflush(stdout);
  const std::string line = "trainfront: " + std::string(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

}  // namespace trainfront::engine
