#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "search/block_setup.hpp"

namespace trainfront::search {

// Legal protections by spares class.
using ProtectionLists = std::vector<std::vector<int>>;

// What layouts on one GPU count have in common that share group size and state sharding: which protections
// work on them; walks share it (Tables::unit_setup). Those that mask failures (faults::masks_failures) see
// units of groups; the others see nodes fail and work on every layout.
struct UnitSetup {
  UnitSetup(const BlockSetup& setup, std::int64_t dp, int group_gpus, std::int64_t state_copy_groups);

  int group_gpus;
  std::int64_t state_copy_groups;
  faults::FailingUnit unit;  // of the protections that mask failures
  std::int64_t state_copies;
  ProtectionLists plain, masking;
  std::uint64_t legal_plain = 0, legal_masking = 0;        // (offer, protection) pairs
  std::array<std::uint64_t, costmodel::kRules> illegal{};  // pairs by rule
  std::uint64_t first_legal = 0;  // offer * protections + protection; if there is one

  std::size_t bytes() const;
  std::uint64_t legal() const { return legal_plain + legal_masking; }
};

}  // namespace trainfront::search
