#pragma once

#include <cstddef>

#include "costmodel/collective_time.hpp"
#include "costmodel/device_family.hpp"
#include "costmodel/fit_regime.hpp"

namespace trainfront::costmodel {

// The ways that are told apart of those that NCCL has for a collective in one scale-up domain: a ring by one
// of three wire protocols, or, of an all_reduce, the switch's reduction. It weighs a tree for all_reduce as
// well, and the switch for all_gather and reduce_scatter; with these a replica of its model decides otherwise
// in two of some hundred cases, by less than 5 % of what it expects.
enum class LibraryProtocol { kLowLatency, kLowLatency128, kSimple, kInSwitch };
inline constexpr std::size_t kLibraryProtocols = 4;

// What NCCL's tuning model looks at of a device and its fabric.
struct LibraryFabric {
  DeviceFamily family = DeviceFamily::kOther;
  double link_bytes_per_s = 0;
  int switch_ranks = 0;  // that the switch reduces at least; 0: it does not
};

LibraryFabric library_fabric(const Device& device);

// Its figures for the fabric are known, NVLink of Volta, Ampere, Hopper or Blackwell, and it has a choice,
// which of all_to_all it has not.
bool library_chooses(const LibraryFabric& fabric, Collective collective);

// What NCCL's own tuning model expects of a way: NVLink's latencies and rates as it knows them, which are off
// what is measured by up to a factor of two, but decide which way is taken (github.com/NVIDIA/nccl,
// src/graph/tuning.cc of 2.27). Where library_chooses; kInSwitch of all_reduce alone.
RegimeConstants library_constants(const LibraryFabric& fabric, Collective collective,
                                  LibraryProtocol protocol);

// The way that it takes: the one of which it expects the least. Where library_chooses; ranks >= 2.
LibraryProtocol library_protocol(const LibraryFabric& fabric, Collective collective, double bytes,
                                 double ranks);

// How often a ring goes around: an all_reduce is a reduce_scatter and then an all_gather.
double ring_rounds(Collective collective);

}  // namespace trainfront::costmodel
