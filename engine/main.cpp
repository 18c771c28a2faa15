#include <fcntl.h>

#include <csignal>
#include <cstdio>

#include "engine/command_line.hpp"
#include "engine/errors.hpp"
#include "engine/large_pages.hpp"
#include "engine/run.hpp"

namespace {

// The number of a standard stream that is closed would go to the next file opened, which then got what is
// printed. Held by something that cannot be written, printing fails as it should.
void hold_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace trainfront::engine;
  use_large_pages();
  hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error like a full disk, not a kill
  const int status = run(parse_command_line(argc, argv));
  // A full disk or a closed pipe shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("trainfront: cannot write to standard output\n", stderr);
    return status == kDone ? int{kInternalError} : status;
  }
  return status;
}
