#pragma once

#include <cstdint>

#include "costmodel/layout.hpp"
#include "costmodel/step_time.hpp"
#include "faults/protection.hpp"

namespace trainfront::search {

// One point of the space. Hardware and offer are positions in Problem::hardware and its offers.
struct Plan {
  std::uint64_t index = 0;  // in the space
  int hardware = 0;
  int offer = 0;
  std::int64_t gpus = 0;     // that compute; the bill is by whole nodes, spares included
  costmodel::Layout layout;  // dp set
  std::int64_t global_batch = 0;
  costmodel::Islands islands;
  faults::Protection protection;
};

}  // namespace trainfront::search
