#pragma once

#include <functional>
#include <vector>

namespace trainfront::costmodel {

// The place where `cost` is least, sought from `start` with steps of `step` along each axis: the simplex
// method of Nelder and Mead (Computer Journal 7, 1965), which needs no derivatives. A local minimum after
// `rounds` rounds.
std::vector<double> minimize(const std::function<double(const std::vector<double>&)>& cost,
                             const std::vector<double>& start, double step, int rounds);

}  // namespace trainfront::costmodel
