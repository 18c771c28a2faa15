#pragma once

#include <algorithm>
#include <vector>

#include "costmodel/layout.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

template <class T>
std::vector<T> ascending(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The values to be tried: those that the user chose, ascending, or `otherwise`.
template <class T>
std::vector<T> chosen_or(const std::vector<T>& chosen, std::vector<T> otherwise) {
  return chosen.empty() ? otherwise : ascending(chosen);
}

// The values that "auto" stands for (docs/search.md, "Layouts"): all that can be legal and could pay. Each
// list is ascending and never empty. A value that a framework's rules refuse by itself may still be among
// them.
struct LayoutDomain {
  const Problem& problem;
  const costmodel::Hardware& hardware;

  std::vector<int> tp() const;  // divisors of the heads within a scale-up domain or a node
  std::vector<int> cp() const;  // powers of two that leave a rank 1,024 tokens or more
  std::vector<int> pp() const;  // powers of two, and divisors of the layers with or without two for the ends
  std::vector<int> vpp(int pp) const;    // the same of a stage's layers
  std::vector<int> ep() const;           // divisors of the experts
  std::vector<int> etp(int tp) const;    // divisors of tp
  std::vector<int> zero() const;         // 0 to 3
  std::vector<int> shard_group() const;  // all; a scale-up domain, and eight-fold up to 1,024 ranks
  std::vector<int> micro_batch() const;  // powers of two up to 131,072 tokens
  std::vector<costmodel::Schedule> schedule() const;
  // What LayoutChoices::cp_type and recompute_modules mean for a framework.
  std::vector<costmodel::ContextExchange> cp_type(costmodel::Framework framework) const;
  std::vector<costmodel::RecomputeModules> recompute_modules(costmodel::Framework framework) const;
  std::vector<costmodel::Recompute> recompute() const;
};

}  // namespace trainfront::search
