#include "search/block_setup.hpp"

#include <algorithm>
#include <limits>

namespace trainfront::search {
namespace {

std::vector<RateClass> rate_classes(const FailureModel& failures, const HardwareClass& hardware) {
  std::vector<RateClass> classes;
  for (std::size_t offer = 0; offer < hardware.offers.size(); ++offer) {
    const double rate = node_failures_per_s(failures, hardware, hardware.offers[offer]);
    auto same = std::find_if(classes.begin(), classes.end(),
                             [&](const RateClass& c) { return c.failures_per_node_s == rate; });
    if (same == classes.end()) same = classes.insert(classes.end(), RateClass{rate, {}});
    same->offers.push_back(static_cast<int>(offer));
  }
  return classes;
}

std::vector<SparesClass> spares_classes(const std::vector<faults::Protection>& protections,
                                        std::int64_t nodes) {
  std::vector<SparesClass> classes;
  for (std::size_t entry = 0; entry < protections.size(); ++entry) {
    const std::int64_t spares = spare_nodes(protections[entry], nodes);
    auto same = std::find_if(classes.begin(), classes.end(),
                             [&](const SparesClass& c) { return c.spares == spares; });
    if (same == classes.end()) same = classes.insert(classes.end(), SparesClass{spares, nodes + spares, {}});
    same->protections.push_back(static_cast<int>(entry));
  }
  return classes;
}

}  // namespace

BlockSetup::BlockSetup(const Space& the_space, const Block& the_block)
    : space{the_space},
      block{the_block},
      hardware{the_space.problem().hardware[static_cast<std::size_t>(the_block.hardware)]},
      gpus{the_space.problem().gpus[the_block.gpus]},
      nodes{costmodel::nodes_for(gpus, hardware.hardware.gpus_per_node)},
      plans_per_step{hardware.offers.size() * the_space.problem().protections.size()} {
  const Problem& problem = space.problem();
  rates = rate_classes(problem.failures, hardware);
  spares = spares_classes(problem.protections, nodes);
  const double state_bytes = checkpoint_bytes(problem.model, problem.recipe);
  for (const auto& protection : problem.protections)
    recovery.push_back(recovery_costs(problem.failures, protection, nodes, state_bytes));
  for (const RateClass& rate : rates) {
    for (const SparesClass& spare : spares) {
      Cell cell;
      cell.least_usd_per_s = std::numeric_limits<double>::infinity();
      for (int offer : rate.offers) {
        if (!is_legal(offer, spare)) continue;
        ++cell.legal_offers;
        cell.least_usd_per_s = std::min(
            cell.least_usd_per_s,
            costmodel::bill_usd(hardware.offers[static_cast<std::size_t>(offer)], spare.paid_nodes, 1.0));
      }
      cells.push_back(cell);
    }
  }
}

bool BlockSetup::is_legal(int offer, const SparesClass& spare) const {
  return offer_rule(hardware.offers[static_cast<std::size_t>(offer)], spare.paid_nodes) ==
         costmodel::Rule::kNone;
}

UnitSetup::UnitSetup(const BlockSetup& setup, std::int64_t dp, int the_group_gpus,
                     std::int64_t the_state_copy_groups)
    : group_gpus{the_group_gpus},
      state_copy_groups{the_state_copy_groups},
      group_unit{faults::failing_unit(dp, the_group_gpus, setup.hardware.hardware.gpus_per_node)} {
  const auto& entries = setup.space.problem().protections;
  const auto count = [&](costmodel::Rule rule, std::uint64_t pairs) {
    illegal[static_cast<std::size_t>(rule)] += pairs;
  };
  first_legal = std::numeric_limits<std::uint64_t>::max();
  for (const SparesClass& spare : setup.spares) {
    auto& usable = protections.emplace_back();
    std::uint64_t offers = 0;
    int first_offer = -1;
    for (std::size_t offer = 0; offer < setup.hardware.offers.size(); ++offer) {
      if (!setup.is_legal(static_cast<int>(offer), spare)) continue;
      if (first_offer < 0) first_offer = static_cast<int>(offer);
      ++offers;
    }
    for (int entry : spare.protections) {
      count(costmodel::Rule::kNodes, setup.hardware.offers.size() - offers);
      const auto rule =
          protection_rule(entries[static_cast<std::size_t>(entry)], setup.space.problem().failures.law,
                          group_unit, dp, state_copy_groups);
      if (rule != costmodel::Rule::kNone) {
        count(rule, offers);
        continue;
      }
      usable.push_back(entry);
      legal += offers;
      if (first_offer >= 0)
        first_legal = std::min(first_legal, static_cast<std::uint64_t>(first_offer) * entries.size() +
                                                static_cast<std::uint64_t>(entry));
    }
  }
}

}  // namespace trainfront::search
