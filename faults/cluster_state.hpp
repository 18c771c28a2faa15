#pragma once

#include <cstdint>
#include <vector>

#include "faults/placement.hpp"
#include "faults/protection.hpp"
#include "faults/random.hpp"
#include "faults/rectlr.hpp"

namespace trainfront::faults {

// Who lives, for the simulators: units, the hosts of each shard type, the copies of each part of the state.
class ClusterState {
 public:
  ClusterState(std::int64_t units, const Protection& protection, bool stacked_replication,
               std::int64_t state_copies, const std::vector<std::int64_t>& offsets, bool exact_depth);

  void restore();
  // Takes out a random survivor. False: what is left cannot go on.
  bool lose(Random& random);
  // A lost unit is back.
  void regain();

  int lost() const { return lost_; }
  int left() const { return static_cast<int>(units_.size()) - lost_; }
  bool lives() const { return lives_; }
  // c: stacks that a step needs now.
  double stacks() const;

 private:
  void take_from(std::vector<int>& hosts, std::size_t part);

  Protection protection_;
  std::vector<std::int64_t> offsets_;  // of the hosts of a type; empty where types are not stacked
  std::int64_t families_ = 0;          // of classical replication
  std::int64_t state_parts_ = 1;
  double every_stack_ = 0;

  std::vector<int> units_;  // survivors first
  std::vector<bool> alive_;
  std::vector<int> type_hosts_;
  std::vector<int> family_hosts_;
  std::vector<int> state_hosts_;
  int lost_ = 0;
  bool lives_ = true;

  bool exact_depth_ = false;
  StackOrder initial_;
  StackOrder order_;
  std::vector<Controller> controller_;  // one, with exact depth
  int depth_ = 0;
};

}  // namespace trainfront::faults
