#pragma once

#include <vector>

#include "engine/wishes.hpp"
#include "faults/protection.hpp"

namespace trainfront::engine {

// Keeps the protections that a wish for protection, r, sub_shards, spares or k_max allows. The output shows
// spares and k_max as numbers where the sweep file leaves them open (a share of the nodes, "auto"): such a
// protection is kept with the number that is wished for. Throws UsageError if none is left.
void narrow_protections(std::vector<faults::Protection>& protections, const Wish& wish);

}  // namespace trainfront::engine
