#pragma once

namespace trainfront::costmodel {

enum class Precision { kBf16, kFp8 };
enum class Optimizer { kAdam, kSgd };

// What the training needs, whatever plan runs it.
struct Recipe {
  double tokens = 0;        // to be seen in all
  int sequence_length = 0;  // tokens
  Precision precision = Precision::kBf16;
  Optimizer optimizer = Optimizer::kAdam;
  double critical_batch_tokens =
      0;  // tokens needed grow as 1 + B/B_crit (McCandlish et al., arXiv 1812.06162); 0: they do not
  // Routed tokens of the busiest GPU over the mean: above 1 where experts are loaded unevenly and no token is
  // dropped; the capacity factor where those above it are.
  double expert_imbalance = 1;

  bool operator==(const Recipe&) const = default;
};

}  // namespace trainfront::costmodel
