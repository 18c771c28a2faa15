#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "search/layout_list.hpp"
#include "search/plan.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

class Tables;

// Plans that are worked on as a whole: some shapes (see LayoutList) on one kind of hardware at one GPU count,
// with every sharding, batch, islands, offer and protection.
struct Block {
  int hardware = 0;
  std::size_t gpus = 0;         // position in Problem::gpus
  std::size_t first_shape = 0;  // of Space::layouts(hardware)
  std::size_t last_shape = 0;   // one past
};

// The plans of a problem as indices 0 .. size()-1 and back. An index is a number in mixed radix; from the
// slowest digit: hardware, GPU count, layout, global batch, islands, offer, protection. Layouts that are
// illegal whatever the GPU count and batch have no index; excluded() counts them.
class Space {
 public:
  // Throws std::length_error when the space has 2^63 plans or more, or all lists of layouts together more
  // than the limits.
  explicit Space(Problem problem, LayoutLimits limits = {});

  const Problem& problem() const { return problem_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t blocks() const { return blocks_; }
  // Blocks of the same shapes follow each other, one for each GPU count: what is known of a shape is wanted
  // again at once, and by the same thread.
  Block block(std::uint64_t number) const;
  // Of the blocks of this hardware; blocks() for the number of kinds.
  std::uint64_t first_block(int hardware) const {
    const auto part = static_cast<std::size_t>(hardware);
    return part < parts_.size() ? parts_[part].first_block : blocks_;
  }
  // Of the plans on this hardware.
  std::uint64_t first_index(int hardware) const {
    return parts_[static_cast<std::size_t>(hardware)].first_index;
  }

  // index < size(). layout.dp is gpus / group, rounded down (the plan is illegal then).
  Plan decode(std::uint64_t index) const;
  // The plan's index; none if the space lacks it. Plan::index and layout.dp are not looked at.
  std::optional<std::uint64_t> encode(const Plan& plan) const;

  const LayoutList& layouts(int hardware) const { return *parts_[static_cast<std::size_t>(hardware)].list; }
  // Plans that the problem names but no index stands for, by the rule their layout breaks; not part of
  // size().
  std::array<std::uint64_t, costmodel::kRules> excluded() const;

  // What is computed once and shared by all threads that walk this space.
  Tables& tables() const { return *tables_; }

 private:
  struct Part {  // of one kind of hardware
    std::shared_ptr<const LayoutList> list;
    std::uint64_t first_index = 0;
    std::uint64_t first_block = 0;
    std::size_t block_shapes = 1;
    std::uint64_t plans_per_layout = 0;
  };
  const Part& part_of_index(std::uint64_t index) const;
  const Part& part_of_block(std::uint64_t block) const;

  Problem problem_;
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
  std::uint64_t blocks_ = 0;
  std::shared_ptr<Tables> tables_;
};

}  // namespace trainfront::search
