#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "mpi/world.hpp"

namespace trainfront::tests {
namespace {
engine::World* g_world = nullptr;
}
engine::World& world() {
  return *g_world;
}
}  // namespace trainfront::tests

// All ranks run all tests; the job passes if they pass on every rank.
int main(int argc, char** argv) {
  trainfront::engine::World world;
  trainfront::tests::g_world = &world;
  doctest::Context context(argc, argv);
  const int failed = context.run();
  if (context.shouldExit()) return failed;
  const bool all_passed = world.lowest(failed == 0 ? 1 : 0) == 1;
  return all_passed ? 0 : 1;
}
