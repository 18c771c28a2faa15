#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "engine/command_line.hpp"
#include "engine/errors.hpp"
#include "engine/failure.hpp"
#include "engine/terminal.hpp"
#include "engine/transport.hpp"

namespace {

using namespace trainfront::engine;

int run_alone(const Invocation& invocation) {
  try {
    return invocation.serial();
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    say(failure.text);
    return failure.status;
  }
}

int run_on_all_ranks(const Invocation& invocation) {
  World world;
  try {
    return invocation.parallel(world);
  } catch (const SharedFailure& failure) {
    if (world.rank() == 0) say(failure.what());
    return failure.status;
  } catch (...) {
    // The other ranks know nothing of this and would wait for ever.
    const Failure failure = describe(std::current_exception());
    if (world.size() == 1) {
      say(failure.text);
      return failure.status;
    }
    say(fmt::format("rank {} of {} on {} failed: {}", world.rank(), world.size(), world.host(),
                    failure.text));
    world.abort(failure.status);
  }
}

int run(int argc, const char* const* argv) {
  const Invocation invocation = parse_command_line(argc, argv);
  if (!invocation.serial && !invocation.parallel) {
    if (launcher_rank() != 0) return invocation.status;
    if (invocation.status == kDone) {
      print(invocation.text);
    } else {
      say(invocation.text);
    }
    return invocation.status;
  }
  if (invocation.serial) return launcher_rank() == 0 ? run_alone(invocation) : kDone;
  try {
    return run_on_all_ranks(invocation);
  } catch (...) {  // the world could not be made
    const Failure failure = describe(std::current_exception());
    if (launcher_rank() == 0) say(failure.text);
    return failure.status;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
  // A full disk or a closed pipe shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("trainfront: cannot write to standard output\n", stderr);
    return status == kDone ? kInternalError : status;
  }
  return status;
}
