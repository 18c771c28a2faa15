#pragma once

#include <cstdint>

#include "faults/protection.hpp"

namespace trainfront::faults {

// Why a protection cannot be used on so many groups.
enum class ProtectionError : std::uint8_t {
  kNone,
  kNoGroups,               // N < 1
  kRedundancyTooSmall,     // r < 1
  kRedundancyAboveGroups,  // r > N: a shard cannot have more hosts than there are groups
  kRedundancyNotDivisor,   // replication's families need r | N
  kStateLost,              // the state of a lost group has no other copy, so its failure cannot be masked
  kSubShards,              // sub_shards < 1
  kKMax,                   // k_max < -1 or above N
  kLaw,                    // the Weibull shape is outside what the closed forms hold for
};

// Failures are survived without a global restart.
constexpr bool masks_failures(const Protection& protection) {
  return protection.scheme == Scheme::kElastic ||
         ((protection.scheme == Scheme::kReplication || protection.scheme == Scheme::kSpare) &&
          protection.r > 1);
}

// `state_copies`: groups that hold the same part of the training state (see state_copies() in
// state_coverage.hpp).
ProtectionError check(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                      std::int64_t state_copies);

// One sentence, without full stop.
const char* describe(ProtectionError error);

}  // namespace trainfront::faults
