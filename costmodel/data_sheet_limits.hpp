#pragma once

#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// The least seconds in which a measurement's work can be done, whatever the kernel: no more operations than
// the dense peak, no more bytes than links carry. What the data sheet does not state (a rate of 0) bounds
// nothing. Below, what is measured is wrong: its time, or its sizes.

double least_seconds(const Device& device, const GemmSample& sample);

// Of a causal call the half of the scores that the fewest conventions count.
double least_seconds(const Device& device, const AttentionSample& sample);

// Caches hand out kCacheRate times what memory does, up to kCacheBytes (MI300X's, the largest of a GPU: 256
// MiB; L40S's, the fastest against its memory: 6 times; public measurements reach 1.3).
double least_seconds(const Device& device, const MemoryBoundSample& sample);
inline constexpr double kCacheRate = 10;
inline constexpr double kCacheBytes = 256 << 20;

// domain_bytes_per_s: of all network cards of a domain, one way; only collectives across domains need it.
double least_seconds(const Device& device, const CollectiveSample& sample, double domain_bytes_per_s);

// Boost clocks lie up to 8 % above those that peaks are quoted at (H100: 1.98 for 1.83 GHz), and times are
// rounded.
inline constexpr double kAboveDataSheet = 1.1;

}  // namespace trainfront::costmodel
