#pragma once

#include <cstdint>
#include <string>

#include "engine/block_ranges.hpp"
#include "search/front.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

// What some ranks found since they last spoke: the blocks that are done and what they yielded.
struct Report {
  search::Harvest harvest;
  BlockRanges done;
  bool last = false;  // the sender has finished

  void merge(const Report& other);
};

// The state of a sweep, enough to go on from.
struct Snapshot {
  std::uint64_t program = 0;  // fingerprint of the executable
  std::uint64_t problem = 0;  // fingerprint of the input
  std::uint64_t plans = 0;
  std::uint64_t blocks = 0;
  double elapsed_s = 0;  // of all runs so far
  std::uint64_t runs = 0;
  search::Harvest harvest;
  BlockRanges done;
};

// Bytes for the same program on the same kind of machine (Boost.Serialization, binary). unpack throws
// MachineError on bytes that are not what they should be.
std::string pack(const Report& report);
std::string pack(const Snapshot& snapshot);
std::string pack(const search::Front& front);
Report unpack_report(const std::string& bytes);
Snapshot unpack_snapshot(const std::string& bytes);
search::Front unpack_front(const std::string& bytes);

}  // namespace trainfront::engine
