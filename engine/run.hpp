#pragma once

#include "engine/command_line.hpp"

namespace trainfront::engine {

// Carries out what the user asked for, in one process or on all ranks, and turns whatever goes wrong into a
// message and an exit status. A rank that fails alone ends all ranks.
int run(const Invocation& invocation);

}  // namespace trainfront::engine
