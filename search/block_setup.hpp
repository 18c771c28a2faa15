#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "faults/cycle.hpp"
#include "search/environment.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// Offers whose nodes fail equally often. A plan takes equally long on all of them, so that only price and
// node limit tell them apart.
struct RateClass {
  NodeFailures node;
  std::vector<int> offers;
};

// Protections that pay for equally many spare nodes and work on the same offers.
struct SparesClass {
  std::int64_t spares = 0;
  std::int64_t paid_nodes = 0;
  std::vector<int> protections;
  // By offer: too few nodes, or too little room on them. kDataLoading is for all offers alike.
  std::vector<costmodel::Rule> rules;
};

// Plans of one rate class and one spares class rent the same number of nodes for a time that is the same on
// each offer: of all on one GPU count only the fastest can be on the front, whatever the offer. A cell keeps
// it.
struct Cell {
  int legal_offers = 0;
  double least_usd_per_s = 0;  // rent of the legal offers; a bill's transfers come on top, so it bounds
};

// What all plans on one kind of hardware with one GPU count have in common; walks share it (Tables::setup).
// Milliseconds, for thousands of offers and protections. The problem must outlive it.
struct BlockSetup {
  BlockSetup(const Problem& problem, int hardware_class, std::size_t gpus_position);

  const Problem& problem;
  const HardwareClass& hardware;
  int hardware_class;  // its position
  std::int64_t gpus;
  std::int64_t nodes;          // that compute
  std::size_t plans_per_step;  // offers x protections
  std::vector<RateClass> rates;
  std::vector<SparesClass> spares;
  std::vector<faults::Environment> recovery;  // by protection; group_mtbf_s is not set
  std::vector<Cell> cells;                    // by rate, then spares
  std::optional<faults::Chance> chance;       // what times must hold with

  static bool is_legal(int offer, const SparesClass& spare) {
    return spare.rules[static_cast<std::size_t>(offer)] == costmodel::Rule::kNone;
  }
  std::size_t bytes() const;
  // Nodes that fail so often see the same cycles (faults::CycleTable), if not equally many of them.
  bool share_columns(const RateClass& a, const RateClass& b) const;
};

}  // namespace trainfront::search
