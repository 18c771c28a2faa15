#pragma once

#include <cstdint>

namespace trainfront::faults::paper {

// SPARe's closed forms under their own names, as the paper gives them (arXiv 2603.00357): N shard types, each
// stacked on r groups. All need 1 <= r <= N; NaN otherwise.

// mu(N, r) = Gamma(1 + 1/r) N^(1 - 1/r): mean failures endured before a type has lost all its hosts.
double failures_endured(std::int64_t n, int r);

// S(N, r): mean stacks per step over the first floor(mu) states: c(k) = ceil(N/(N-k)), and `patch` more in
// every state that a masked failure can leave. patch: stacks redone per step (0 leaves the patch out).
double mean_stacks(std::int64_t n, int r, double patch = 0);

// Best time from the end of a checkpoint to the end of the next: T_s + sqrt(T_s^2 + 2 T_s (T_f + T_r)), for
// save time T_s, mean cycle T_f and restart T_r, all in seconds.
double checkpoint_interval_s(double save_s, double cycle_s, double restart_s);

// A: share of the time outside restarts, checkpoints and lost work at that interval.
double availability(double save_s, double cycle_s, double restart_s);

// J(r) = S/A: time-to-train over that of one stack without failures, a step's stacks being all of its time.
// mtbf_s: of the whole system.
double objective(std::int64_t n, int r, double mtbf_s, double save_s, double restart_s, double patch = 0);

// r* = floor(log2 N + gamma/ln 2) = floor(log2 N + 0.833), where mu reaches N/2; at least 1, at most N.
int optimal_redundancy(std::int64_t n);

}  // namespace trainfront::faults::paper
