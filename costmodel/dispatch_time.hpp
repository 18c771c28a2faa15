#pragma once

#include "costmodel/collective_time.hpp"
#include "costmodel/operations.hpp"

namespace trainfront::costmodel {

// Expert dispatch (or combine) that sends a token once to every node, and there once to every GPU, that holds
// one of its experts (DeepEP, github.com/deepseek-ai/DeepEP): the slower of network and links; 0 for a group
// of one.
Timed dispatch_time(const Hardware& hardware, const Dispatch& dispatch, const Placement& placement);

// Of `places` (nodes, or GPUs) that share the experts evenly and in order, how many hold an expert of a
// token, on average. Experts are drawn evenly, from the token's groups where routing is limited to some.
double places_visited(double places, const Dispatch& dispatch);

}  // namespace trainfront::costmodel
