#include "search/block_setup.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "search/host_rules.hpp"

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

// In the order in which evaluate() asks.
std::vector<costmodel::Rule> rules_by_offer(const Problem& problem, const HardwareClass& hardware,
                                            const faults::Protection& protection, std::int64_t gpus,
                                            std::int64_t nodes, double state_bytes) {
  const HostNeed need = host_need(problem, protection, nodes, hardware.hardware.gpus_per_node, state_bytes);
  const costmodel::Rule loading = loading_rule(problem, protection, gpus, nodes, hardware.hardware.device);
  std::vector<costmodel::Rule> rules;
  for (const costmodel::Offer& offer : hardware.offers) {
    costmodel::Rule rule = offer_rule(offer, nodes + spare_nodes(protection, nodes));
    if (rule == costmodel::Rule::kNone) rule = host_rule(offer, need);
    rules.push_back(rule == costmodel::Rule::kNone ? loading : rule);
  }
  return rules;
}

std::vector<SparesClass> spares_classes(const Problem& problem, const HardwareClass& hardware,
                                        std::int64_t gpus, std::int64_t nodes, double state_bytes) {
  std::vector<SparesClass> classes;
  for (std::size_t entry = 0; entry < problem.protections.size(); ++entry) {
    const faults::Protection& protection = problem.protections[entry];
    const std::int64_t spares = spare_nodes(protection, nodes);
    std::vector<costmodel::Rule> rules =
        rules_by_offer(problem, hardware, protection, gpus, nodes, state_bytes);
    auto same = std::find_if(classes.begin(), classes.end(),
                             [&](const SparesClass& c) { return c.spares == spares && c.rules == rules; });
    if (same == classes.end())
      same = classes.insert(classes.end(), SparesClass{spares, nodes + spares, {}, std::move(rules)});
    same->protections.push_back(static_cast<int>(entry));
  }
  return classes;
}

}  // namespace

BlockSetup::BlockSetup(const Problem& the_problem, int the_class, std::size_t gpus_position)
    : problem{the_problem},
      hardware{problem.hardware[static_cast<std::size_t>(the_class)]},
      hardware_class{the_class},
      gpus{problem.gpus[gpus_position]},
      nodes{costmodel::nodes_for(gpus, hardware.hardware.gpus_per_node)},
      plans_per_step{hardware.offers.size() * problem.protections.size()},
      chance{chance_of(problem.goal)} {
  rates = rate_classes(problem.failures, hardware);
  const double state_bytes = checkpoint_bytes(problem.model, problem.recipe);
  spares = spares_classes(problem, hardware, gpus, nodes, state_bytes);
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

std::size_t BlockSetup::bytes() const {
  std::size_t bytes = sizeof(*this) + rates.capacity() * sizeof(RateClass) +
                      spares.capacity() * sizeof(SparesClass) + cells.capacity() * sizeof(Cell) +
                      recovery.capacity() * sizeof(faults::Environment);
  for (const RateClass& rate : rates) bytes += rate.offers.capacity() * sizeof(int);
  for (const SparesClass& spare : spares)
    bytes += spare.protections.capacity() * sizeof(int) + spare.rules.capacity() * sizeof(costmodel::Rule);
  return bytes;
}

bool BlockSetup::share_columns(const RateClass& a, const RateClass& b) const {
  if (a.node == b.node) return true;
  const auto in_bursts = [](const NodeFailures& node) {
    return node.preemptions_per_s > 0 && node.preempted_together > 1;
  };
  return !problem.failures.law.failures_in_restart && !in_bursts(a.node) && !in_bursts(b.node);
}

}  // namespace trainfront::search
