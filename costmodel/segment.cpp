#include "costmodel/segment.hpp"

#include <bit>
#include <cstdint>
#include <numeric>

namespace trainfront::costmodel {

int segment_gpus(const Layout& layout, int domain_gpus) {
  constexpr int kMostOfServer = 16, kNodeOfRack = 4;
  if (domain_gpus <= kMostOfServer) return domain_gpus;
  const std::int64_t group =
      std::lcm(std::lcm(std::int64_t{layout.tp} * layout.cp, std::int64_t{layout.etp} * layout.ep),
               std::int64_t{kNodeOfRack});
  const std::int64_t power_of_two = std::int64_t{1}
                                    << (std::bit_width(static_cast<unsigned>(domain_gpus)) - 1);
  if (group <= power_of_two && power_of_two % group == 0) return static_cast<int>(power_of_two);
  if (group <= domain_gpus) return static_cast<int>(domain_gpus / group * group);
  // Groups wider than a rack: equal parts of them.
  for (int part = domain_gpus / kNodeOfRack * kNodeOfRack; part >= kNodeOfRack; part -= kNodeOfRack) {
    if (group % part == 0) return part;
  }
  return domain_gpus;
}

}  // namespace trainfront::costmodel
