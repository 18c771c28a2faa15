#include "faults/protection_check.hpp"

namespace trainfront::faults {

ProtectionError check(std::int64_t groups, const Protection& protection, const FailureLaw& law,
                      std::int64_t state_copies) {
  if (groups < 1) return ProtectionError::kNoGroups;
  if (!(law.weibull_shape >= kLeastWeibullShape && law.weibull_shape <= kMostWeibullShape))
    return ProtectionError::kLaw;
  if (protection.r < 1) return ProtectionError::kRedundancyTooSmall;
  if (protection.sub_shards < 1) return ProtectionError::kSubShards;
  if (protection.k_max < -1 || protection.k_max > groups) return ProtectionError::kKMax;
  const bool redundant = protection.scheme == Scheme::kReplication || protection.scheme == Scheme::kSpare;
  if (redundant && protection.r > groups) return ProtectionError::kRedundancyAboveGroups;
  if (protection.scheme == Scheme::kReplication && groups % protection.r != 0) {
    return ProtectionError::kRedundancyNotDivisor;
  }
  if (masks_failures(protection) && state_copies < 2) return ProtectionError::kStateLost;
  return ProtectionError::kNone;
}

const char* describe(ProtectionError error) {
  switch (error) {
    case ProtectionError::kNone:
      return "the protection fits";
    case ProtectionError::kNoGroups:
      return "there must be at least one group";
    case ProtectionError::kRedundancyTooSmall:
      return "the redundancy r must be at least 1";
    case ProtectionError::kRedundancyAboveGroups:
      return "the redundancy r is above the number of groups";
    case ProtectionError::kRedundancyNotDivisor:
      return "replication needs an r that divides the number of groups";
    case ProtectionError::kStateLost:
      return "a lost group takes the only copy of its optimiser state with it, so its failure cannot be "
             "masked";
    case ProtectionError::kSubShards:
      return "a shard type has at least one sub-shard";
    case ProtectionError::kKMax:
      return "k_max must lie between 0 and the number of groups, or be -1 for the best";
    case ProtectionError::kLaw:
      return "the Weibull shape must lie between 0.5 and 2";
  }
  return "unknown";
}

}  // namespace trainfront::faults
