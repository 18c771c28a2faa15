#pragma once

#include <cstdint>

namespace trainfront::search {

// How many protections of a cell make no progress, if nothing but this is known: T(1) is at most most_step_s,
// and the work at most most_work_s or, where protections start over, at least least_work_s.
struct Certainty {
  double most_step_s = 0;
  double most_work_s = 0;
  double least_work_s = 0;
  std::uint64_t endless = 0;               // whatever the step
  std::uint64_t endless_from_scratch = 0;  // more, from least_work_s on
};

}  // namespace trainfront::search
