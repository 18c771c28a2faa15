#pragma once

#include "faults/precise_time.hpp"

namespace trainfront::faults {

// What a run of few cycles takes more than the slope of long ones says, in seconds, in the mean: mostly less,
// below 0, since it starts with all of its units and ends without a last restart. 0 for long runs, for those
// without progress, and where restarts can fail.
//
// In the steps q done since a restart, state k passes to k + 1 at b_k = 1/(w_k v_k), with v_k steps a second
// and w_k the mean gap, and the cycle ends then with e_k = 1 - P_(k+1)/P_k: an exponential race whose
// chances pi_k(q) are integrated. With T(q) the time without restarts, f(q) the density of ends, and R what
// a restart takes, and of q steps n floor(q/n) saved, the mean time of Q steps is
//   A(Q) = T(Q) + the integral over q to Q of f(q) (R + A(Q - saved)),
// less A's slope for large Q, times Q. The law is taken for exponential.
double start_gain_s(const Simulation& simulation, const Survival& survival, const PreciseTime& fluid);

// From this many cycles on a run is long.
inline constexpr double kLongRunCycles = 50;

}  // namespace trainfront::faults
