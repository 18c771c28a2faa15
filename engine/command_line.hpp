#pragma once

#include <functional>
#include <string>

namespace trainfront::engine {

class World;

// What the user asked for: exactly one of a command that runs in one process, a command that runs on all
// ranks, or a text (help, version, an error of usage) with its status.
struct Invocation {
  std::function<int()> serial;
  std::function<int(World&)> parallel;
  std::string text;
  int status = 0;
};

// Never throws for anything the user may type.
Invocation parse_command_line(int argc, const char* const* argv);

}  // namespace trainfront::engine
