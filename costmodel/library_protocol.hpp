#pragma once

#include <cstddef>

#include "costmodel/collective_time.hpp"
#include "costmodel/fit_regime.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// The ways that NCCL has for a collective in one scale-up domain: a ring by one of three wire protocols, or,
// of an all_reduce, the switch's reduction.
enum class LibraryProtocol { kLowLatency, kLowLatency128, kSimple, kInSwitch };
inline constexpr std::size_t kLibraryProtocols = 4;

// What NCCL's own tuning model expects of a way: NVLink's latencies and rates as it knows them, which are off
// what is measured by up to a factor of two, but decide which way is taken (github.com/NVIDIA/nccl,
// src/graph/tuning.cc of 2.27). kInSwitch of all_reduce alone.
RegimeConstants library_constants(const Device& device, Collective collective, LibraryProtocol protocol);

// The way that it takes: the one of which it expects the least. ranks >= 2.
LibraryProtocol library_protocol(const Device& device, Collective collective, double bytes, double ranks);

// False: it knows one way alone, as of all_to_all.
bool library_chooses(Collective collective);

}  // namespace trainfront::costmodel
