#pragma once

#include "costmodel/collective_time.hpp"

namespace trainfront::costmodel {

// Expert dispatch (or combine) that sends a token once to every node, and there once to every GPU, that holds
// one of its experts (DeepEP, github.com/deepseek-ai/DeepEP): the slower of network and links. `copies`
// experts a token, spread evenly; 0 for a group of one.
Timed dispatch_time(const Hardware& hardware, double tokens, double token_bytes, int copies,
                    const Placement& placement);

}  // namespace trainfront::costmodel
