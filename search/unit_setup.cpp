#include "search/unit_setup.hpp"

#include <algorithm>
#include <limits>

#include "faults/protection_check.hpp"

namespace trainfront::search {

UnitSetup::UnitSetup(const BlockSetup& setup, std::int64_t dp, int the_group_gpus,
                     std::int64_t the_copy_groups)
    : group_gpus{the_group_gpus},
      state_copy_groups{the_copy_groups},
      unit{faults::failing_unit(dp, the_group_gpus, setup.hardware.hardware.gpus_per_node)},
      state_copies{faults::state_copies(unit, dp, the_copy_groups)},
      first_legal{std::numeric_limits<std::uint64_t>::max()} {
  const auto& entries = setup.problem.protections;
  const auto& offers = setup.hardware.offers;
  for (const SparesClass& spare : setup.spares) {
    plain.emplace_back();
    masking.emplace_back();
    std::uint64_t legal_offers = 0;
    std::uint64_t first_offer = offers.size();
    for (std::size_t offer = offers.size(); offer-- > 0;) {
      if (!setup.is_legal(static_cast<int>(offer), spare)) continue;
      ++legal_offers;
      first_offer = offer;
    }
    for (int number : spare.protections) {
      const auto& protection = entries[static_cast<std::size_t>(number)];
      for (const costmodel::Rule broken : spare.rules)
        if (broken != costmodel::Rule::kNone) ++illegal[static_cast<std::size_t>(broken)];
      const auto rule = protection_rule(protection, setup.problem.failures.law, unit, dp, state_copy_groups);
      if (rule != costmodel::Rule::kNone) {
        illegal[static_cast<std::size_t>(rule)] += legal_offers;
        continue;
      }
      const bool masks = faults::masks_failures(protection);
      (masks ? masking : plain).back().push_back(number);
      (masks ? legal_masking : legal_plain) += legal_offers;
      if (legal_offers > 0)
        first_legal =
            std::min(first_legal, first_offer * entries.size() + static_cast<std::uint64_t>(number));
    }
  }
}

std::size_t UnitSetup::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const ProtectionLists* lists : {&plain, &masking}) {
    bytes += lists->capacity() * sizeof(lists->front());
    for (const auto& list : *lists) bytes += list.capacity() * sizeof(int);
  }
  return bytes;
}

}  // namespace trainfront::search
