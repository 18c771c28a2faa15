#pragma once

#include <cstdint>
#include <optional>

#include "search/plan.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// The plans of a problem as indices 0 .. size()-1 and back, in blocks of consecutive indices that are worked on
// as a whole (one hardware class and GPU count).
class Space {
 public:
  // Throws std::length_error when the space has 2^63 plans or more.
  explicit Space(Problem problem);

  const Problem& problem() const { return problem_; }
  std::uint64_t size() const;
  std::uint64_t blocks() const;
  std::uint64_t block_begin(std::uint64_t block) const;  // first index; block_begin(blocks()) == size()

  Plan decode(std::uint64_t index) const;
  std::optional<std::uint64_t> encode(const Plan& plan) const;

 private:
  Problem problem_;
};

}  // namespace trainfront::search
