#pragma once

#include "engine/transport.hpp"

namespace trainfront::tests {

// The ranks that run this test program.
engine::World& world();

}  // namespace trainfront::tests
