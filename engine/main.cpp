#include <csignal>
#include <cstdio>

#include "engine/command_line.hpp"
#include "engine/errors.hpp"
#include "engine/run.hpp"

int main(int argc, char** argv) {
  using namespace trainfront::engine;
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error like a full disk, not a kill
  const int status = run(parse_command_line(argc, argv));
  // A full disk or a closed pipe shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("trainfront: cannot write to standard output\n", stderr);
    return status == kDone ? int{kInternalError} : status;
  }
  return status;
}
