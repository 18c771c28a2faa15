#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/memory.hpp"

namespace trainfront::search {

// Some costmodel::LayoutMemory without the room for stages that most layouts do not need.
class PackedMemory {
 public:
  void add(const costmodel::LayoutMemory& memory);
  costmodel::LayoutMemory operator[](std::size_t position) const;
  std::size_t size() const { return heads_.size(); }
  std::size_t bytes() const;

 private:
  struct Head {
    costmodel::StateRecipe state;
    std::int64_t cp = 1;
    std::int64_t micro_batch = 1;
    std::int64_t vpp = 1;
    double shard_ranks = 0;
    double expert_share = 1;
    double overhead_bytes = 0;
    std::uint32_t first_stage = 0;
    std::uint32_t stage_count = 0;
  };
  std::vector<Head> heads_;
  std::vector<costmodel::StageMemory> stages_;
};

}  // namespace trainfront::search
