#pragma once

#include <cstdint>

#include "faults/failing_unit.hpp"
#include "search/block_setup.hpp"
#include "search/tables.hpp"

namespace trainfront::search {

// Failures that masking surely keeps from slowing the training a thousandfold, which is told from their rate
// and from what saves and restarts take, without tables. Proofs in docs/search.md, "Who makes no progress".
class MildFailures {
 public:
  // `unit`: what fails as one.
  MildFailures(const BlockSetup& setup, const faults::FailingUnit& unit, const Tables& tables);

  // T(1) up to which a protection that masks failures makes progress where nodes fail so often, and is not
  // struck too often; below 0: not known.
  double most_step_s(const NodeFailures& node, int protection) const;
  // The same if it is struck too often or not.
  double most_progressing_step_s(const NodeFailures& node, int protection) const;
  // T(1) from which on those that mask failures are struck too often (faults::is_struck_too_often).
  double struck_from_s(const NodeFailures& node) const;

 private:
  struct Costs {  // per second of training, but for the two times
    double failures = 0;
    double restarts = 0;
    double masked_s = 0;
    double save_s = 0;
    double deep_save_s = 0;
  };
  double kept_of_saves(const Costs& costs, double losing) const;
  double at_the_first_loss(const Costs& costs, double losing) const;
  double replicated(const Costs& costs) const;
  double in_long_cycles(const Costs& costs, int k_max) const;
  bool is_mild_rejoining(const Costs& costs, const NodeFailures& node,
                         const faults::Environment& environment) const;

  const BlockSetup& setup_;
  const faults::FailingUnit& unit_;
  const Tables& tables_;
  double units_;
  double most_stacks_;  // slowdown by stacks at its worst
};

}  // namespace trainfront::search
