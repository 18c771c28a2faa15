#include "search/block_setup.hpp"

#include <algorithm>
#include <limits>

namespace trainfront::search {
namespace {

std::vector<RateClass> rate_classes(const FailureModel& failures, const HardwareClass& hardware) {
  std::vector<RateClass> classes;
  for (std::size_t offer = 0; offer < hardware.offers.size(); ++offer) {
    const NodeFailures node = node_failures(failures, hardware, hardware.offers[offer]);
    auto same =
        std::find_if(classes.begin(), classes.end(), [&](const RateClass& c) { return c.node == node; });
    if (same == classes.end()) same = classes.insert(classes.end(), RateClass{node, {}});
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

BlockSetup::BlockSetup(const Space& space, int the_class, std::size_t gpus_position)
    : problem{space.problem()},
      hardware{problem.hardware[static_cast<std::size_t>(the_class)]},
      hardware_class{the_class},
      gpus{problem.gpus[gpus_position]},
      nodes{costmodel::nodes_for(gpus, hardware.hardware.gpus_per_node)},
      plans_per_step{hardware.offers.size() * problem.protections.size()},
      chance{chance_of(problem.goal)} {
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
            costmodel::rent_usd(hardware.offers[static_cast<std::size_t>(offer)], spare.paid_nodes, 1.0));
      }
      cells.push_back(cell);
    }
  }
}

bool BlockSetup::share_columns(const RateClass& a, const RateClass& b) const {
  if (a.node == b.node) return true;
  const auto in_bursts = [](const NodeFailures& node) {
    return node.preemptions_per_s > 0 && node.preempted_together > 1;
  };
  return !problem.failures.law.failures_in_restart && !in_bursts(a.node) && !in_bursts(b.node);
}

bool BlockSetup::is_legal(int offer, const SparesClass& spare) const {
  return offer_rule(hardware.offers[static_cast<std::size_t>(offer)], spare.paid_nodes) ==
         costmodel::Rule::kNone;
}

}  // namespace trainfront::search
