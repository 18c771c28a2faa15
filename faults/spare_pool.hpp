#pragma once

#include <cstdint>

namespace trainfront::faults {

// Nodes that are lost, each of which is replaced a fixed time later; hot spares stand in meanwhile. Figures
// are means within that time.
struct NodeLosses {
  double single = 0;    // events that take one node
  double bursts = 0;    // events that take several, ...
  double together = 1;  // ... a geometric number of this mean, 1 or more
};

// What a restart waits for replacements in the mean, over the time that one takes: 1 without spares, near 0
// with plenty. The restart is that of a random event. Of the J nodes that it takes and the B that were lost
// within a replacement's time before it, all but `spares` must be replaced first: the (J + B - spares)th of
// the B, which come evenly spread, is awaited, or the event's own where J > spares:
//   E min(1, (J + B - spares)^+/(B + 1)),   1 where J > spares,
// B being compound Poisson: (n+1) P(n+1) = (s + t p + 2 q n) P(n) - (q^2 (n-1) + 2 q s) P(n-1) + q^2 s P(n-2)
// for s single and t burst events, p = 1/together, q = 1 - p.
double mean_wait_for_replacement(const NodeLosses& losses, std::int64_t spares);

}  // namespace trainfront::faults
