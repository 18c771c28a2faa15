#include "engine/process.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace trainfront::engine {

ProcessId this_process() {
  return process_with(::getpid());
}

// Fields of /proc/PID/stat, proc(5): 3 the state, 22 the start. The name, field 2, may hold blanks and
// brackets.
ProcessId process_with(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {pid, 0};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    const bool is_dead = field == "Z" || field == "X";
    if (number == 3 && is_dead) return {pid, 0};
  }
  return {pid, std::stoll(field)};
}

}  // namespace trainfront::engine
