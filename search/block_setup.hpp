#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "faults/cycle.hpp"
#include "search/environment.hpp"
#include "search/space.hpp"

namespace trainfront::search {

// Offers whose nodes fail equally often. A plan takes equally long on all of them, so that only price and
// node limit tell them apart.
struct RateClass {
  double failures_per_node_s = 0;
  std::vector<int> offers;
};

// Protections that pay for equally many spare nodes.
struct SparesClass {
  std::int64_t spares = 0;
  std::int64_t paid_nodes = 0;
  std::vector<int> protections;
};

// Plans of one rate class and one spares class rent the same number of nodes for a time that is the same on
// each offer: of all that a block holds, only the fastest can be on the front, on every offer. A cell keeps
// it.
struct Cell {
  int legal_offers = 0;
  double least_usd_per_s = 0;  // of the legal offers
};

// What all plans of a block have in common.
struct BlockSetup {
  BlockSetup(const Space& space, const Block& block);

  const Space& space;
  Block block;
  const HardwareClass& hardware;
  std::int64_t gpus;
  std::int64_t nodes;          // that compute
  std::size_t plans_per_step;  // offers x protections
  std::vector<RateClass> rates;
  std::vector<SparesClass> spares;
  std::vector<faults::Environment> recovery;  // by protection; group_mtbf_s is not set
  std::vector<Cell> cells;                    // by rate, spares

  const Cell& cell(std::size_t rate, std::size_t spare) const { return cells[rate * spares.size() + spare]; }
  bool is_legal(int offer, const SparesClass& spare) const;
};

// Which protections work on the layouts of a block that share group size and state sharding.
struct UnitSetup {
  UnitSetup(const BlockSetup& setup, std::int64_t dp, int group_gpus, std::int64_t state_copy_groups);

  int group_gpus;
  std::int64_t state_copy_groups;
  faults::FailingUnit group_unit;                          // of the protections that mask failures
  std::vector<std::vector<int>> protections;               // legal ones, by spares class
  std::array<std::uint64_t, costmodel::kRules> illegal{};  // (offer, protection) pairs by rule
  std::uint64_t legal = 0;                                 // pairs
  std::uint64_t first_legal = 0;  // offer * protections + protection; if there is one
};

}  // namespace trainfront::search
