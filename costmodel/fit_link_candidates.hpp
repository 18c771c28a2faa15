#pragma once

#include <cstddef>
#include <vector>

#include "costmodel/fit_link_pool.hpp"

namespace trainfront::costmodel {

// Whose measurements shape a collective's table: the device's own, its relatives', or an earlier table of its
// own.
enum class LinkBasis { kOwn, kRelatives, kEarlierTable };

// What cross-validation chooses from.
struct LinkCandidate {
  LinkBasis basis = LinkBasis::kOwn;
  Shape shape = Shape::kForm;

  const char* name() const;
};

// How many samples there are of each kind.
struct LinkCandidateCounts {
  std::size_t own = 0, companion = 0;
  std::size_t relatives = 0, relatives_companion = 0;
};

// Beside the plain own one, in the order in which one must be better than those before it. by_library: the
// collective is one whose protocols the library chooses as is known.
std::vector<LinkCandidate> link_candidates(bool by_library, const LinkCandidateCounts& counts,
                                           bool has_earlier_table);

}  // namespace trainfront::costmodel
