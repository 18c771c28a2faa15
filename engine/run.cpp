#include "engine/run.hpp"

#include <fmt/core.h>

#include <exception>

#include "engine/errors.hpp"
#include "engine/failure.hpp"
#include "engine/terminal.hpp"
#include "engine/transport.hpp"

namespace trainfront::engine {
namespace {

int run_alone(const Invocation& invocation) {
  try {
    return invocation.serial();
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    say(failure.text);
    return failure.status;
  }
}

int run_in(World& world, const Invocation& invocation) {
  try {
    return invocation.parallel(world);
  } catch (const SharedFailure& failure) {
    if (world.rank() == 0) say(failure.what());
    return failure.status;
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    if (world.size() == 1) {
      say(failure.text);
      return failure.status;
    }
    // The other ranks know nothing of this and would wait for ever.
    say(fmt::format("rank {} of {} on {} failed: {}", world.rank(), world.size(), world.host(),
                    failure.text));
    world.abort(failure.status);
  }
}

int run_on_all_ranks(const Invocation& invocation) {
  try {
    World world;
    return run_in(world, invocation);
  } catch (...) {  // the world could not be made
    const Failure failure = describe(std::current_exception());
    if (launcher_rank() == 0) say(failure.text);
    return failure.status;
  }
}

}  // namespace

int run(const Invocation& invocation) {
  if (invocation.parallel) return run_on_all_ranks(invocation);
  // Of several processes one is enough.
  if (launcher_rank() != 0) return invocation.serial ? int{kDone} : invocation.status;
  if (invocation.serial) return run_alone(invocation);
  if (invocation.status == kDone) {
    print(invocation.text);
  } else {
    say(invocation.text);
  }
  return invocation.status;
}

}  // namespace trainfront::engine
