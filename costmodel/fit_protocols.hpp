#pragma once

#include <utility>
#include <vector>

#include "costmodel/device_profile.hpp"
#include "costmodel/fit_regime.hpp"
#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::costmodel {

// One collective within a domain as NCCL runs it: small messages by a protocol of low latency, large ones by
// one that fills the links, chosen by size and not by what is faster, so that there is a step between them
// (NCCL, src/graph/tuning.cc).
class ProtocolSteps {
 public:
  // Where the step lies: at one size whatever the ranks, at one size a rank, or at a size of its own for each
  // number of ranks (between those that were measured, at a size between theirs).
  enum class Step { kBySize, kByShare, kByRanks };

  // Fitted on relative errors, outliers counted by their absolute error; the step where it fits best. Samples
  // of one protocol give none.
  static ProtocolSteps fitted(const Device& device, Collective collective, Step step,
                              const std::vector<CollectiveSample>& samples);

  double seconds(double bytes, double ranks) const;
  bool has_step() const { return step_bytes_ > 0; }
  double step_bytes() const { return step_bytes_; }  // of kByRanks where it began
  double step_bytes(double ranks) const;

 private:
  bool is_small(double bytes, double ranks) const;

  Collective collective_ = Collective::kAllReduce;
  double link_bytes_per_s_ = 1;
  Step step_ = Step::kBySize;
  double step_bytes_ = 0;                            // 0: none
  std::vector<std::pair<double, double>> of_ranks_;  // ranks, ascending, and log2 of their step's bytes
  RegimeConstants small_{}, large_{};
};

}  // namespace trainfront::costmodel
