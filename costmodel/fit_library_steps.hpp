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
  // Fitted as ProtocolSteps are. A protocol of few samples stays near the model's constants, after their
  // factor. Of collectives that the model knows (library_chooses).
  static LibrarySteps fitted(const Device& device, Collective collective,
                             const std::vector<CollectiveSample>& samples,
                             const LibrarySteps* companion = nullptr);

  double seconds(double bytes, double ranks) const;

 private:
  Device device_;
  Collective collective_ = Collective::kAllReduce;
  std::array<RegimeConstants, kLibraryProtocols> constants_{};
};

}  // namespace trainfront::costmodel
