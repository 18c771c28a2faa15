#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/collective_time.hpp"
#include "costmodel/kernel_time.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// Measurements of one device, as the fits take them. `source` is a position in Samples::sources.

struct GemmSample {
  Precision precision = Precision::kBf16;
  double m = 0, n = 0, k = 0;
  double seconds = 0;
  int source = 0;
};

struct AttentionSample {
  AttentionShape shape = {};
  bool backward = false;
  bool writes_cache = false;  // measured in a serving engine, which copies K and V to its cache
  double seconds = 0;
  int source = 0;
};

struct MemoryBoundSample {
  MemoryBound kind = MemoryBound::kCopy;
  double bytes = 0;
  double seconds = 0;
  int source = 0;
};

struct CollectiveSample {
  Collective collective = Collective::kAllReduce;
  Placement placement = {};
  double bytes = 0;
  double nic_bytes_per_s = 0;  // per rank, one way; of samples across domains
  double seconds = 0;
  int source = 0;
  int fabric = 0;  // a position in Samples::fabrics
};

struct Samples {
  std::vector<std::string> sources;
  std::vector<std::string> fabrics;  // as the measurements describe them
  std::vector<GemmSample> gemm;
  std::vector<AttentionSample> attention;
  std::vector<MemoryBoundSample> memory_bound;
  std::vector<CollectiveSample> collective;
};

}  // namespace trainfront::costmodel
