#pragma once

#include <array>
#include <vector>

#include "costmodel/fit_regime.hpp"
#include "costmodel/fit_samples.hpp"
#include "costmodel/library_protocol.hpp"

namespace trainfront::costmodel {

// One collective within a domain, by the protocol that NCCL's tuning model takes at each size: of each its
// own constants, and steps where the model says, whether or not sizes beside them were measured.
class LibrarySteps {
 public:
  // Fitted as ProtocolSteps are, on one sample at least. A protocol of few samples stays near the companion's
  // constants, or the model's after their factor. Where library_chooses.
  static LibrarySteps fitted(const LibraryFabric& fabric, Collective collective,
                             const std::vector<CollectiveSample>& samples,
                             const LibrarySteps* companion = nullptr);

  double seconds(double bytes, double ranks) const;

 private:
  // The collective is ever taken that way.
  bool has(LibraryProtocol protocol) const;

  LibraryFabric fabric_;
  Collective collective_ = Collective::kAllReduce;
  std::array<RegimeConstants, kLibraryProtocols> constants_{};
};

}  // namespace trainfront::costmodel
